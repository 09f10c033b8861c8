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
  /// Every pixel, also of the merged picture, is made within the budget of `pool`; each layer is generated about three
  /// times. Pictures go into the file as they are encoded. The file takes its place only when it is whole.
  ///
  /// - Parameter pixels: Gives the pixels of each layer; asked once for each source. Chunks are best made in `pool`.
  /// - Throws: `CardError`, `ChunkError`, and what `pixels` throws.
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
    let chunks = plan.layers.map { bySource[$0.source]!.chunk }
    func merged() throws -> CardComposer { try CardComposer(plan, pixels: chunks, file: path.description, in: pool) }
    try writer.add(
      picture: "mergedimage.png", width: width, height: height, compressionLevel: Self.compressionLevel
    ) { png in
      var composer = try merged()
      var row = [UInt8](repeating: 0, count: 4 * width)
      while try composer.nextRow(into: &row) { try png.write(row: row.span.bytes, alpha: .straight) }
    }
    var thumbnail = ThumbnailRows(of: width, height)
    try writer.add(
      picture: "Thumbnails/thumbnail.png", width: thumbnail.width, height: thumbnail.height,
      compressionLevel: Self.compressionLevel
    ) { png in
      var composer = try merged()
      var row = [UInt8](repeating: 0, count: 4 * thumbnail.width)
      for _ in 0..<thumbnail.height {
        try thumbnail.makeRow(&row) { _ = try composer.nextRow(into: &$0) }
        try png.write(row: row.span.bytes, alpha: .straight)
      }
    }
    try writer.commit()
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
