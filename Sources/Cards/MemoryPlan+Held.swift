extension MemoryPlan.Demand {
  /// When a decoder comes or goes: threads take the segments of a block in turn, and the blocks from the top.
  private struct Change {
    let block: Int
    let segment: Int
    let bytes: Int
    let comes: Bool
  }

  /// The most bytes of decoders at once, where each is dropped by the segment that has read the last of its rows, or of
  /// those in the block if it does not keep them.
  ///
  /// Not all layers of a block are there together: one that begins and ends in it is there for the time of its segment,
  /// and of those that other threads have taken meanwhile.
  func mostHeld(_ blockHeight: Int, workerCount: Int, _ isFast: [Bool], keepsDecoders: Bool) -> Int {
    let changes = changes(blockHeight, isFast, keepsDecoders)
    var (held, most) = (0, 0)
    // The segments that threads are at, the first begun first, and what goes when each is done. A block begins when the one
    // above the last is done.
    var running: [(block: Int, segment: Int, goes: Int)] = []
    for change in changes {
      if running.last.map({ ($0.block, $0.segment) != (change.block, change.segment) }) ?? true {
        while let first = running.first, running.count >= workerCount || first.block < change.block - 1 {
          held -= first.goes
          running.removeFirst()
        }
        running.append((change.block, change.segment, 0))
      }
      if change.comes {
        held += change.bytes
        most = max(most, held)
      } else {
        running[running.count - 1].goes += change.bytes
      }
    }
    return most
  }

  /// In the order in which they happen, if threads work evenly.
  private func changes(_ blockHeight: Int, _ isFast: [Bool], _ keepsDecoders: Bool) -> [Change] {
    var changes: [Change] = []
    for (segment, slice) in slices.enumerated() {
      for index in slice {
        let (layer, rows) = (layers[index], layers[index].rows)
        let bytes = isFast[index] ? layer.fast : layer.small
        let blocks = rows.lowerBound / blockHeight...(rows.upperBound - 1) / blockHeight
        for block in keepsDecoders ? blocks.lowerBound...blocks.lowerBound : blocks {
          changes.append(Change(block: block, segment: segment, bytes: bytes, comes: true))
        }
        for block in keepsDecoders ? blocks.upperBound...blocks.upperBound : blocks {
          changes.append(Change(block: block, segment: segment, bytes: bytes, comes: false))
        }
      }
    }
    // What comes to a segment is there before what goes with it.
    return changes.sorted { ($0.block, $0.segment, $0.comes ? 0 : 1) < ($1.block, $1.segment, $1.comes ? 0 : 1) }
  }
}
