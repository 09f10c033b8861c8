public import MemChunks
public import Pictures

/// The pixels of a layer that is to be written.
public struct LayerPixels: Sendable {
  /// Pixels in a row.
  public let width: Int
  /// Rows.
  public let height: Int
  /// 8-bit RGBA with straight alpha, rows from the top without gaps.
  public let chunk: BufferChunk

  /// Makes the pixels of a layer from a chunk of `4 * width * height` bytes.
  public init(width: Int, height: Int, chunk: BufferChunk) {
    self.width = width
    self.height = height
    self.chunk = chunk
  }
}

extension CardDocument {
  /// Writes the document as an OpenRaster file, with the merged picture and the thumbnail that the format asks for.
  ///
  /// Every pixel, also of the merged picture, is made within the budget of `pool`; each layer is generated about twice.
  /// Pictures go into the file as they are encoded. The file takes its place only when it is whole. Beyond the pool,
  /// memory is needed for an encoder and the thumbnail (at most 256 KB).
  ///
  /// - Parameter pixels: Gives the pixels of each layer, in chunks of `pool`; asked once for each source.
  /// - Throws: `CardError`, `ChunkError`, `PictureError.cannotWrite`, and what `pixels` throws.
  public func write(
    to path: BytePath, in pool: ChunkPool, pixels: (CardLayer) throws -> LayerPixels
  ) throws {
    var bySource: [String: LayerPixels] = [:]
    let writer = try OpenRasterWriter(path)
    try writer.add("stack.xml", stackXML)
    for case .layer(let layer) in items where bySource[layer.source] == nil {
      let pixels = try pixels(layer)
      bySource[layer.source] = pixels
      try writer.add(
        picture: layer.source, width: pixels.width, height: pixels.height, compressionLevel: Self.compressionLevel
      ) { try pixels.write(to: $0) }
    }
    // Every layer's source has been asked for.
    let plan = try CompositionPlan(self, file: path.description) { layer in
      let pixels = bySource[layer.source]!
      return (pixels.width, pixels.height)
    }
    let chunks = plan.layers.map { bySource[$0.source]! }
    let composition = try composition(plan, chunks, in: pool, file: path.description)
    var thumbnail = ThumbnailRows(of: width, height)
    try writer.add(
      picture: "mergedimage.png", width: width, height: height, compressionLevel: Self.compressionLevel
    ) { png in
      try composition.forEachRow { row in
        try png.write(row: row.bytes, alpha: .straight)
        thumbnail.add(row)
      }
    }
    try writer.add(
      picture: "Thumbnails/thumbnail.png", width: thumbnail.width, height: thumbnail.height,
      compressionLevel: Self.compressionLevel
    ) { png in
      for row in 0..<thumbnail.height {
        let bytes = thumbnail.pixels.span.bytes
        try png.write(
          row: bytes.extracting(4 * thumbnail.width * row..<4 * thumbnail.width * (row + 1)), alpha: .straight)
      }
    }
    try writer.commit()
  }

  private func composition(
    _ plan: CompositionPlan, _ layers: [LayerPixels], in pool: ChunkPool, file: String
  ) throws(CardError) -> Composition {
    let segments = plan.segments()
    let needs = zip(layers, plan.placed).map { layer, placed in
      MemoryPlan.Demand.Layer(
        rows: placed.rows, small: wholePages(layer.chunk.size), fast: wholePages(layer.chunk.size))
    }
    let scratch = layers.reduce(0) { max($0, $1.chunk.workingPeak - $1.chunk.size) }
    let demand = MemoryPlan.Demand(
      layers: needs, segments: segments, plan: plan, scratch: 0, fixed: scratch, threads: RenderOptions.defaultThreads)
    return Composition(
      plan, segments, try MemoryPlan(demand, budget: pool.budget.bytes, file: file), scratch: 0, in: pool, label: file
    ) { layer, _ in
      .borrowed(layers[layer].chunk, width: layers[layer].width)
    }
  }

  /// Weaker than for final pictures: documents are written again and again.
  private static let compressionLevel = 3
}

extension LayerPixels {
  /// Writes all rows; the chunk is generated again if it was freed between two of them.
  fileprivate func write(to png: PNGWriter) throws {
    for row in 0..<height {
      try chunk.withBytes { bytes in
        try png.write(row: bytes.extracting(4 * width * row..<4 * width * (row + 1)), alpha: .straight)
      }
    }
  }
}
