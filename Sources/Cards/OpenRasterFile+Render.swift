public import MemChunks
public import Pictures

/// What a rendering did and what it took.
public struct RenderAccount: Sendable {
  /// The canvas's width in pixels.
  public var width: Int
  /// The canvas's height in pixels.
  public var height: Int
  /// How many layers are in the picture.
  public var drawnLayerCount: Int
  /// How many layers were left out because nothing of them can be seen.
  public var skippedLayerCount: Int
  /// In how many bands the canvas was composed; with more than one, each layer was decoded once for each.
  public var bandCount: Int
  /// The pool's numbers when the picture was whole.
  public var pool: PoolStatistics
  /// What decoding took, if the options asked for it.
  public var times: RenderTimes?
}

extension OpenRasterFile {
  /// Composes the document into a PNG file, 8-bit RGBA, within the budget of `pool`.
  ///
  /// The file takes its place only when it is whole: on any error an existing one stays as it was. Else as
  /// `render(to:in:options:progress:)` with a sink.
  ///
  /// - Throws: As there, and `PictureError.cannotWrite`.
  public func render(
    to path: BytePath, in pool: ChunkPool, options: RenderOptions = RenderOptions(),
    progress: (_ done: Int, _ total: Int) throws -> Void = { _, _ in }
  ) throws -> RenderAccount {
    let output = try ReplacementFile(replacing: path)
    let account = try render(to: output, in: pool, options: options, progress: progress)
    try output.commit()
    return account
  }

  /// Composes the document into a PNG picture, 8-bit RGBA, within the budget of `pool`.
  ///
  /// The output is within 1/255 of exact arithmetic, and the same for every budget and number of threads. On an error
  /// the sink has got a part of the picture.
  ///
  /// - Parameter progress: Told how many of how many rows are done; called on this thread. What it throws ends the
  ///   rendering and is thrown.
  /// - Throws: `CardError` and `PictureError` naming file, place and reason, `ChunkError`, and what `sink` and `progress`
  ///   throw.
  public func render(
    to sink: any PictureSink, in pool: ChunkPool, options: RenderOptions = RenderOptions(),
    progress: (_ done: Int, _ total: Int) throws -> Void = { _, _ in }
  ) throws -> RenderAccount {
    let work = try RenderWork(self)
    let memory = try work.memoryPlan(work.demand(threads: options.threads), budget: pool.budget.bytes)
    let times = options.measuresDecoding ? RenderTimes(work, memory) : nil
    let composition = work.composition(memory, in: pool, times)
    let (width, height) = (work.plan.width, work.plan.height)
    let writer = try PNGWriter(width: width, height: height, to: sink, compressionLevel: options.compressionLevel)
    var done = 0
    try composition.forEachRow { row in
      try writer.write(row: row.bytes, alpha: .straight)
      done += 1
      try progress(done, height)
    }
    try archive.file.checkUnchanged()
    times?.note(composition.work)
    return RenderAccount(
      width: width, height: height, drawnLayerCount: work.plan.layers.count, skippedLayerCount: work.plan.skippedCount,
      bandCount: memory.bandCount(height: height), pool: pool.statistics, times: times)
  }
}
