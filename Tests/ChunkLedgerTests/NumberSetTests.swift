import ChunkLedger
import ChunkLedgerModel
import Testing

/// The bits do what a `Set<Int>` does.
@Suite struct NumberSetTests {
  @Test("every operation against a set of numbers", arguments: UInt64(1)...6)
  func random(seed: UInt64) {
    var random = ModelRandom(seed: seed)
    // Sizes at and beside the ends of words.
    let size = [1, 63, 64, 65, 200, 256][Int(seed) % 6]
    var bits = NumberSet(size: size)
    var set: Set<Int> = []
    for step in 0..<3_000 {
      let index = random.below(size)
      var isRight = true
      switch random.below(4) {
      case 0:
        bits.insert(index)
        set.insert(index)
      case 1:
        bits.remove(index)
        set.remove(index)
      case 2: isRight = bits.first(from: index) == set.filter { $0 >= index }.min()
      default: isRight = bits.last(below: index + 1) == set.filter { $0 <= index }.max()
      }
      guard isRight else {
        Issue.record("seed \(seed), size \(size), step \(step)")
        return
      }
    }
  }

  @Test("beyond the ends there is nothing")
  func ends() {
    var bits = NumberSet(size: 1_000)
    bits.insert(999)
    #expect(bits.first(from: 0) == 999)
    #expect(bits.first(from: 5_000) == nil)
    #expect(bits.last(below: 0) == nil)
    #expect(bits.last(below: 1_000) == 999)
  }
}
