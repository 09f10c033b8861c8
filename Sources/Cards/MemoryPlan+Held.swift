extension MemoryPlan {
  /// How often a decoder is generated, and how many bytes those and the rest take, all in all.
  ///
  /// `body` is told of each decoder's generation: its layer, and the first row of the canvas that it is for.
  func generations(_ demand: Demand, _ body: (_ layer: Int, _ row: Int) -> Void) -> (count: Int, byteCount: Int) {
    var (count, byteCount) = (1, workByteCount(demand))
    _ = demand.mostHeld(blockHeight, workerCount: workerCount, isFast, keepsDecoders: keepsDecoders) { layer, row in
      count += 1
      byteCount += isFast[layer] ? demand.layers[layer].fast : demand.layers[layer].small
      body(layer, row)
    }
    return (count, byteCount)
  }
}

extension MemoryPlan.Demand {
  /// The most bytes of decoders at once, and the parts, by number, that threads are at then.
  ///
  /// Follows the parts as threads take them: the segments of a block in turn, and the blocks from the top. A decoder comes
  /// with the first part that reads it, and goes with the one that has read the last of its rows, or of those in the block
  /// if it does not stay. A part is there until as many have begun as there are threads, its segment is wanted again, or the
  /// block after the next begins. Takes a step for each part.
  ///
  /// - Parameter came: Told of each decoder that comes: its layer, and the first row of the canvas that it is for.
  func mostHeld(
    _ blockHeight: Int, workerCount: Int, _ isFast: [Bool], keepsDecoders: Bool,
    came: (_ layer: Int, _ row: Int) -> Void = { _, _ in }
  ) -> (byteCount: Int, parts: Range<Int>) {
    var schedule = BlockSchedule(slices.map(\.rows), height: height, blockHeight: blockHeight)
    var most = (byteCount: 0, parts: 0..<0)
    var (held, number) = (0, 0)
    // The parts that threads are at, and what goes when each is done.
    var running: [(block: Int, segment: Int, goes: Int)] = []
    for block in 0..<schedule.blockCount {
      for segment in schedule.segments(in: block) {
        var mustWait: Bool {
          running.count == workerCount || running.contains { $0.segment == segment || $0.block < block - 1 }
        }
        while mustWait { held -= running.removeFirst().goes }
        var goes = 0
        for index in slices[segment].layers {
          let (layer, rows) = (layers[index], layers[index].rows)
          let (first, last) = (rows.lowerBound / blockHeight, (rows.upperBound - 1) / blockHeight)
          guard (first...last).contains(block) else { continue }
          let bytes = isFast[index] ? layer.fast : layer.small
          if !keepsDecoders || block == first {
            held += bytes
            came(index, max(rows.lowerBound, block * blockHeight))
          }
          if !keepsDecoders || block == last { goes += bytes }
        }
        running.append((block, segment, goes))
        number += 1
        if held > most.byteCount { most = (held, number - running.count..<number) }
      }
      schedule.forget(block)
    }
    return most
  }
}
