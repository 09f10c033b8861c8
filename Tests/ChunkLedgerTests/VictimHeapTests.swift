import ChunkLedger
import ChunkLedgerModel
import Testing

/// The heap gives its slots in the order of their keys, whatever was taken out or put back meanwhile.
@Suite struct VictimHeapTests {
  @Test("keys come out in order", arguments: [1, 2, 3, 7, 100, 1_000])
  func ordered(count: Int) {
    var heap = VictimHeap()
    var positions = [Int32](repeating: -1, count: count)
    var random = ModelRandom(seed: UInt64(count))
    var keys: [UInt64] = []
    for index in 0..<count {
      keys.append(UInt64(random.below(count)))
      heap.insert(Slot(index), key: keys[index], &positions)
    }
    var taken: [UInt64] = []
    while let least = heap.least {
      #expect(least.key == keys[least.slot.index])
      taken.append(least.key)
      heap.remove(least.slot, &positions)
      #expect(positions[least.slot.index] == -1)
    }
    #expect(taken == keys.sorted())
  }

  @Test("inserts, removals anywhere and later keys, against a dictionary", arguments: UInt64(1)...5)
  func random(seed: UInt64) {
    var heap = VictimHeap()
    var positions = [Int32](repeating: -1, count: 60)
    var known: [Int: UInt64] = [:]
    var random = ModelRandom(seed: seed)
    for step in 0..<4_000 {
      let slot = random.below(60)
      if known[slot] == nil {
        known[slot] = UInt64(random.below(500))
        heap.insert(Slot(slot), key: known[slot]!, &positions)
      } else if random.percent(50) {
        known[slot] = nil
        heap.remove(Slot(slot), &positions)
      } else if let least = heap.least {
        known[least.slot.index]! += UInt64(random.below(100))
        heap.postponeLeast(until: known[least.slot.index]!, &positions)
      }
      let isOrdered = heap.least?.key == known.values.min()
      let isPlaced = heap.items.indices.allSatisfy { Int(positions[heap.items[$0].slot.index]) == $0 }
      let isWhole = heap.items.count == known.count && heap.items.allSatisfy { known[$0.slot.index] == $0.key }
      guard isOrdered, isPlaced, isWhole else {
        Issue.record("seed \(seed), step \(step): the least \(isOrdered), positions \(isPlaced), items \(isWhole)")
        return
      }
    }
  }
}
