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
  /// Each layer's pixels are used once: the merged picture is composed from what is in the file by then, within the
  /// budget of `pool`. Pictures go into the file as they are encoded. The file takes its place only when it is whole.
  /// Beyond the pool, memory is needed for an encoder and the thumbnail (at most 256 KB).
  ///
  /// - Parameter pixels: Gives the pixels of each layer, in chunks of `pool`; asked once for each source.
  /// - Throws: `CardError`, `ChunkError`, `PictureError`, and what `pixels` throws.
  public func write(
    to path: BytePath, in pool: ChunkPool, pixels: (CardLayer) throws -> LayerPixels
  ) throws {
    try write(to: path, in: pool) { layer, writer in
      let pixels = try pixels(layer)
      try writer.add(
        picture: layer.source, width: pixels.width, height: pixels.height, compressionLevel: Self.compressionLevel
      ) { try pixels.write(to: $0) }
    }
  }

  /// Writes the document with pictures that are PNG files already; they go into it as they are.
  ///
  /// - Parameter files: Gives the file of each layer; asked once for each source, in the order of the document.
  /// - Throws: `CardError`, `ChunkError`, `PictureError`, and what `files` and its sources throw.
  public func write(
    to path: BytePath, in pool: ChunkPool, files: (CardLayer) throws -> any PositionedSource
  ) throws {
    try write(to: path, in: pool) { layer, writer in try writer.add(picture: layer.source, file: files(layer)) }
  }

  private func write(
    to path: BytePath, in pool: ChunkPool, addPicture: (CardLayer, OpenRasterWriter) throws -> Void
  ) throws {
    let writer = try OpenRasterWriter(path)
    try writer.add("stack.xml", stackXML)
    var added: Set<String> = []
    for case .layer(let layer) in items where added.insert(layer.source).inserted { try addPicture(layer, writer) }
    try addMergedPicture(to: writer, in: pool)
    try writer.commit()
  }

  private func addMergedPicture(to writer: OpenRasterWriter, in pool: ChunkPool) throws {
    let written = try writer.archiveSoFar()
    let work = try RenderWork(self, file: writer.name) { try LayerPicture(writer.place(of: $0.source, in: written)) }
    let memory = try work.memoryPlan(
      work.demand(threads: RenderOptions.defaultThreads), budget: pool.budget.bytes)
    let composition = work.composition(memory, in: pool)
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
