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
  /// In how many bands the canvas was composed; with more than one, layers may have been decoded once for each.
  public var bandCount: Int
  /// The pool's numbers when the picture was whole, everything still in place.
  public var pool: PoolStatistics
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
    let (plan, pixels) = try prepare(in: pool)
    var composer = try CardComposer(plan, pixels: pixels, file: name, in: pool)
    let writer = try PNGWriter(
      width: plan.width, height: plan.height, to: sink, compressionLevel: options.compressionLevel)
    var row = [UInt8](repeating: 0, count: 4 * plan.width)
    var done = 0
    while try composer.nextRow(into: &row) {
      try writer.write(row: row.span.bytes, alpha: .straight)
      done += 1
      try progress(done, plan.height)
    }
    return RenderAccount(
      width: plan.width, height: plan.height, drawnLayerCount: plan.layers.count, skippedLayerCount: plan.skippedCount,
      bandCount: composer.bandCount, pool: pool.statistics)
  }

  /// Plans the document and makes a chunk for each picture in it; layers that share a picture share its chunk.
  private func prepare(in pool: ChunkPool) throws -> (plan: CompositionPlan, pixels: [BufferChunk]) {
    var headers: [String: PNGHeader] = [:]
    let plan = try CompositionPlan(document, file: name) { layer in
      let header = try headers[layer.source] ?? header(of: layer)
      headers[layer.source] = header
      return (header.width, header.height)
    }
    var chunks: [String: BufferChunk] = [:]
    let chunkOfLayer = try plan.layers.map { layer in
      // The plan has asked for the size, and so for the header, of every layer that it draws.
      let chunk = try chunks[layer.source] ?? pixels(of: layer, header: headers[layer.source]!, in: pool)
      chunks[layer.source] = chunk
      return chunk
    }
    return (plan, chunkOfLayer)
  }
}
