import ChunkLedger
import ChunkLedgerModel
import Testing

/// The bits do what a `Set<Int>` does.
@Suite struct PageSetTests {
  @Test("every operation against a set of numbers", arguments: UInt64(1)...6)
  func random(seed: UInt64) {
    var random = ModelRandom(seed: seed)
    // Sizes at and beside the ends of words.
    let size = [1, 63, 64, 65, 200, 256][Int(seed) % 6]
    var bits = PageSet()
    bits.grow(to: size)
    var set: Set<Int> = []
    for step in 0..<3_000 {
      let index = random.below(size)
      let run = PageRun(start: index, count: random.below(size - index + 1))
      let members = set.filter { $0 >= run.start && $0 < run.end }
      var isRight = true
      switch random.below(7) {
      case 0:
        bits.insert(index)
        set.insert(index)
      case 1:
        bits.remove(index)
        set.remove(index)
      case 2:
        bits.insertAll(in: run)
        set.formUnion(run.start..<run.end)
      case 3:
        isRight = bits.removeAll(in: run) == members.count
        set.subtract(members)
      case 4:
        let limit = random.below(size + 1)
        let taken = bits.takeRuns(in: run, atMost: limit)
        let pages = taken.flatMap { Array($0.start..<$0.end) }
        isRight = pages == Array(members.sorted().prefix(limit)) && taken.allSatisfy { $0.count > 0 }
        set.subtract(pages)
      case 5:
        isRight = bits.first(from: index) == set.filter { $0 >= index }.min()
      default:
        isRight = bits.last(below: index + 1) == set.filter { $0 <= index }.max()
      }
      isRight = isRight && bits.contains(index) == set.contains(index)
      isRight = isRight && bits.count(in: PageRun(start: 0, count: size)) == set.count
      guard isRight else {
        Issue.record("seed \(seed), size \(size), step \(step)")
        return
      }
    }
  }

  @Test("growing keeps the members, and beyond the end there is nothing")
  func growth() {
    var bits = PageSet(size: 10)
    bits.insertAll(in: PageRun(start: 3, count: 4))
    bits.grow(to: 1_000)
    bits.grow(to: 5)
    bits.insert(999)
    #expect(
      bits.takeRuns(in: PageRun(start: 0, count: 1_000), atMost: 10) == [
        PageRun(start: 3, count: 4), PageRun(start: 999, count: 1),
      ])
    #expect(bits.first(from: 0) == nil)
    #expect(bits.first(from: 5_000) == nil)
    #expect(bits.last(below: 0) == nil)
    #expect(bits.last(below: 1_000) == nil)
  }
}
