internal import MemChunks
internal import Pictures

/// Composes a plan row by row, with as many threads and as much memory as a memory plan says.
final class Composition: @unchecked Sendable {
  /// Makes what a layer's rows come from, given its index.
  typealias LayerMaker = @Sendable (_ layer: Int, _ inflater: PNGRowReader.Inflater) -> LayerDecoder

  let plan: CompositionPlan
  let segments: [Segment]
  let memoryPlan: MemoryPlan
  let pool: ChunkPool
  let work: WorkMemory
  let progress: RowProgress
  /// Held while a part is taken and room is made for its layers: parts get room in their order, so that none waits for
  /// room that a later one holds.
  let turns = Monitor()
  private let makeLayer: LayerMaker
  /// What layers' rows come from, from the first use to the last; each is used by the thread alone that is at its segment.
  private let layers: UnsafeMutablePointer<LayerDecoder?>

  init(
    _ plan: CompositionPlan, _ segments: [Segment], _ memoryPlan: MemoryPlan, scratch: Int, in pool: ChunkPool,
    label: String, layer makeLayer: @escaping LayerMaker
  ) {
    self.plan = plan
    self.segments = segments
    self.memoryPlan = memoryPlan
    self.pool = pool
    self.makeLayer = makeLayer
    work = WorkMemory(
      WorkMemory.Layout(plan, segments: segments, scratch: scratch), memoryPlan, in: pool, label: label)
    progress = RowProgress(
      segments, height: plan.height, blockHeight: memoryPlan.blockHeight, meeting: memoryPlan.peakParts)
    layers = .allocate(capacity: plan.layers.count)
    layers.initialize(repeating: nil, count: plan.layers.count)
  }

  deinit {
    layers.deinitialize(count: plan.layers.count)
    layers.deallocate()
  }

  /// Composes all rows; calls `body` on this thread with each, 8-bit RGBA with straight alpha. May be called once.
  ///
  /// - Throws: `ChunkError`, what decoding layers throws, and what `body` throws.
  func forEachRow(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    try work.withReady {
      let threads = (0..<memoryPlan.workerCount).compactMap { worker in
        WorkerThread { CompositionWorker(self, worker).run() }
      }
      do {
        guard !threads.isEmpty else { throw CardError.noThread(file: work.label) }
        if threads.count < memoryPlan.workerCount { progress.callOffMeeting() }
        try giveOutRows(body)
      } catch {
        progress.fail(error)
      }
      for thread in threads { thread.join() }
      if let failure = progress.failure { throw failure }
    }
  }

  private func giveOutRows(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    let finished = UnsafeMutableRawBufferPointer(rebasing: work.finished[..<(4 * plan.width)])
    let pixels = finished.bindMemory(to: UInt8.self).baseAddress!
    let isReached = rowsReached()
    var isClear = false
    for row in 0..<plan.height {
      if isReached[row] {
        try progress.waitUntilDone(row)
        let plane = work.plane(0, row: row)
        SourceOver.resolve(plane, count: plan.width, into: pixels)
        plane.update(repeating: 0, count: 4 * plan.width)
        isClear = false
      } else if !isClear {
        finished.initializeMemory(as: UInt8.self, repeating: 0)
        isClear = true
      }
      progress.giveOut(row)
      try body(UnsafeRawBufferPointer(finished))
    }
  }

  /// For each row, whether a layer may reach it: the others are transparent, and nobody composes them.
  private func rowsReached() -> [Bool] {
    var isReached = [Bool](repeating: false, count: plan.height)
    var end = 0
    for rows in segments.map(\.rows).sorted(by: { $0.lowerBound < $1.lowerBound }) {
      for row in max(end, rows.lowerBound)..<max(end, rows.upperBound) { isReached[row] = true }
      end = max(end, rows.upperBound)
    }
    return isReached
  }

  /// What a layer's rows come from. For the thread that is at its segment.
  func layer(_ index: Int) -> LayerDecoder {
    if let layer = layers[index] { return layer }
    let layer = makeLayer(index, memoryPlan.isFast[index] ? .fast : .small)
    layers[index] = layer
    return layer
  }

  /// Lets go of a layer that is not needed for now, or no more. For the thread that is at its segment.
  func drop(_ index: Int) {
    layers[index]?.discard()
    layers[index] = nil
  }
}
