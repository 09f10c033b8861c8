/// A binary heap of slots by key, least first, that knows where each slot stands.
///
/// The keys are as old as the last look: a hit changes a chunk's stamp, not the heap. Whoever takes
/// the least must therefore ask whether it has been used since, and put it back if so. That keeps a
/// hit free of the heap and still finds the exact minimum, because a key in the heap is never above
/// the true one.
///
/// The positions belong to the ledger and are shared by the heaps of all groups, since a slot is in
/// one heap at most.
package struct VictimHeap {
  package struct Item {
    package var key: UInt64
    package var slot: Slot
  }

  package private(set) var items: [Item] = []

  package init() {}

  package var least: Item? { items.first }

  /// O(log n).
  package mutating func insert(_ slot: Slot, key: UInt64, _ positions: inout [Int32]) {
    items.append(Item(key: key, slot: slot))
    siftUp(from: items.count - 1, &positions)
  }

  /// O(log n). The slot must be in this heap.
  package mutating func remove(_ slot: Slot, _ positions: inout [Int32]) {
    let hole = Int(positions[slot.index])
    positions[slot.index] = -1
    let last = items.removeLast()
    guard hole < items.count else { return }
    items[hole] = last
    positions[last.slot.index] = Int32(hole)
    if hole > 0, items[(hole - 1) / 2].key > last.key {
      siftUp(from: hole, &positions)
    } else {
      siftDown(from: hole, &positions)
    }
  }

  /// Gives the least item a later key. O(log n).
  package mutating func postponeLeast(until key: UInt64, _ positions: inout [Int32]) {
    items[0].key = key
    siftDown(from: 0, &positions)
  }

  // The arrays are asked once whether they are shared, and not at each step.
  private mutating func siftUp(from start: Int, _ positions: inout [Int32]) {
    items.withUnsafeMutableBufferPointer { items in
      positions.withUnsafeMutableBufferPointer { positions in
        let item = items[start]
        var index = start
        while index > 0 {
          let parent = (index - 1) / 2
          guard items[parent].key > item.key else { break }
          items[index] = items[parent]
          positions[items[index].slot.index] = Int32(index)
          index = parent
        }
        items[index] = item
        positions[item.slot.index] = Int32(index)
      }
    }
  }

  private mutating func siftDown(from start: Int, _ positions: inout [Int32]) {
    items.withUnsafeMutableBufferPointer { items in
      positions.withUnsafeMutableBufferPointer { positions in
        let item = items[start]
        var index = start
        while true {
          var child = 2 * index + 1
          guard child < items.count else { break }
          if child + 1 < items.count, items[child + 1].key < items[child].key { child += 1 }
          guard items[child].key < item.key else { break }
          items[index] = items[child]
          positions[items[index].slot.index] = Int32(index)
          index = child
        }
        items[index] = item
        positions[item.slot.index] = Int32(index)
      }
    }
  }
}
