internal import MemChunks
internal import Pictures

/// One thread of a composition: takes parts until there are none left.
struct CompositionWorker {
  private let composition: Composition
  private let work: WorkMemory
  private let scratch: PNGRowScratch
  /// A row of a segment's own; begins at the segment's first column.
  private let partial: UnsafeMutablePointer<UInt16>?

  /// Prepares a thread; the composition's memory is held as long as it runs.
  init(_ composition: Composition, _ worker: Int) {
    self.composition = composition
    work = composition.work
    scratch = PNGRowScratch(memory: work.scratch(worker))
    partial = work.partial(worker).bindMemory(to: UInt16.self).baseAddress
  }

  /// Works until all is done or something fails, which the composition is told.
  func run() {
    do {
      // Inside a scope, a request for room that pins occupy is refused instead of waiting. What pins there are is the
      // caller's and other threads' of this composition, and these wait for this one.
      try work.withReady { while try runNext() {} }
    } catch ChunkError.generationFailed(_, let underlying as CardError) {
      composition.progress.fail(underlying)
    } catch ChunkError.generationFailed(_, let underlying as PictureError) {
      composition.progress.fail(underlying)
    } catch {
      composition.progress.fail(error)
    }
  }

  /// Takes a part and does it; false when there is none left.
  private func runNext() throws -> Bool {
    let turn = Turn(composition.turns)
    defer { turn.end() }
    guard let task = try composition.progress.take() else { return false }
    let segment = composition.segments[task.segment]
    let met = segment.layers.filter { $0.placed.rows.overlaps(task.rows) }.map { $0.placed }
    let layers = met.map { placed in
      let layer = composition.layer(placed.index)
      let first = max(placed.rows.lowerBound, task.rows.lowerBound)
      layer.visit = LayerDecoder.Visit(row: first - placed.y, scratch: scratch, turn: turn)
      return layer
    }
    let merged = try withRoom(for: layers, turn) {
      turn.end()
      composition.progress.begin(task)
      let merged = try compose(segment, task)
      for layer in layers { layer.park() }
      return merged
    }
    try composition.progress.merge(task, merged)
    for placed in met where !composition.memoryPlan.keepsDecoders || placed.rows.upperBound <= task.rows.upperBound {
      composition.drop(placed.index)
    }
    composition.progress.finish(task)
    return true
  }

  /// Runs `body` with chunks ready; waits for room that other parts hold, which end without this one.
  private func withRoom<Result>(
    for chunks: [MemChunk], _ turn: Turn, _ body: () throws -> Result
  ) throws -> Result {
    while true {
      let finishedCount = composition.progress.finishedCount
      do {
        return try composition.pool.withReady(chunks, body)
      } catch let refusal as ChunkError {
        // A turn ends when there is room.
        guard case .noRoom = refusal, turn.isOn, try composition.progress.waitForAnother(since: finishedCount) else {
          throw refusal
        }
      }
    }
  }

  /// Composes a segment's part of a block; gives back the last rows, which nobody has been told of.
  private func compose(_ segment: Segment, _ task: RowProgress.Task) throws -> Range<Int> {
    var merged = 0..<0
    for row in segment.rows.clamped(to: task.rows) {
      let layers = segment.layers.lazy.filter { $0.placed.rows.contains(row) }
      if layers.count > 1, let partial {
        partial.update(repeating: 0, count: 4 * segment.columns.count)
        for layer in layers { try lay(layer, row, over: partial, from: segment.columns.lowerBound) }
      }
      // A row of a single layer is decoded before it is waited for, too.
      try withSingle(layers.count == 1 ? layers.first : nil, row) { single in
        try composition.progress.enter(row, task, merged: &merged)
        begin(segment.begins, row)
        let plane = work.plane(segment.plane, row: row)
        if let single {
          single.blend(over: plane, from: 0)
        } else if layers.count > 1, let partial {
          SourceOver.blend(
            plane: partial, count: segment.columns.count, opacity: SourceOver.full,
            over: plane + 4 * segment.columns.lowerBound)
        }
        end(segment.ends, row)
      }
      composition.progress.leave(row, task, merged: &merged)
    }
    return merged
  }

  /// A decoded row of a layer.
  private struct LayerRow {
    let layer: Segment.Layer
    let pixels: UnsafeRawPointer
    let format: PNGRowReader.Format

    /// Lays it over a row whose first pixel is that of a column of the canvas.
    func blend(over row: UnsafeMutablePointer<UInt16>, from column: Int) {
      let columns = layer.placed.columns
      let source = pixels + format.pixelByteCount * (columns.lowerBound - layer.placed.x)
      let target = row + 4 * (columns.lowerBound - column)
      switch format {
      case .rgba8:
        SourceOver.blend(
          straight: source.assumingMemoryBound(to: UInt8.self), count: columns.count, opacity: layer.opacity,
          over: target)
      case .rgba16:
        SourceOver.blend(
          straight: source.assumingMemoryBound(to: UInt16.self), count: columns.count, opacity: layer.opacity,
          over: target)
      }
    }
  }

  private func withSingle<Result>(
    _ layer: Segment.Layer?, _ row: Int, _ body: (LayerRow?) throws -> Result
  ) throws -> Result {
    guard let layer else { return try body(nil) }
    return try withRow(layer, row) { try body($0) }
  }

  private func withRow<Result>(
    _ layer: Segment.Layer, _ row: Int, _ body: (LayerRow) throws -> Result
  ) throws -> Result {
    let decoder = composition.layer(layer.placed.index)
    // Not empty, as no picture is.
    let pixels = try decoder.row(row - layer.placed.y, scratch).baseAddress!
    return try body(LayerRow(layer: layer, pixels: pixels, format: decoder.format))
  }

  private func lay(
    _ layer: Segment.Layer, _ row: Int, over partial: UnsafeMutablePointer<UInt16>, from column: Int
  ) throws {
    try withRow(layer, row) { $0.blend(over: partial, from: column) }
  }

  private func begin(_ groups: [Segment.Group], _ row: Int) {
    for group in groups where group.rows.contains(row) {
      (work.plane(group.plane, row: row) + 4 * group.columns.lowerBound)
        .update(repeating: 0, count: 4 * group.columns.count)
    }
  }

  private func end(_ groups: [Segment.Group], _ row: Int) {
    for group in groups where group.rows.contains(row) {
      let start = 4 * group.columns.lowerBound
      SourceOver.blend(
        plane: work.plane(group.plane, row: row) + start, count: group.columns.count, opacity: group.opacity,
        over: work.plane(group.plane - 1, row: row) + start)
    }
  }
}
