internal import MemChunks
internal import Pictures

/// What a layer's rows come from.
enum LayerChunk: Sendable {
  /// A decoder that gives them from the top down.
  case rows(LayerDecoder, PNGRowReader.Format)
  /// All pixels, 8-bit RGBA, made for this composition.
  case pixels(BufferChunk, width: Int)

  /// What has to be held while rows are taken.
  var chunk: MemChunk {
    switch self {
    case .rows(let decoder, _): decoder
    case .pixels(let chunk, _): chunk
    }
  }

  /// Calls `body` with a row: its first byte, and whether it has 16 bits a sample.
  func withRow<Result>(
    _ row: Int, _ scratch: PNGRowScratch, _ body: (UnsafeRawPointer, PNGRowReader.Format) throws -> Result
  ) throws -> Result {
    switch self {
    case .rows(let decoder, let format): return try body(decoder.row(row, scratch).baseAddress!, format)
    case .pixels(let chunk, let width):
      return try chunk.withBytes { bytes in
        try bytes.withUnsafeBytes { try body($0.baseAddress! + 4 * width * row, .rgba8) }
      }
    }
  }

  /// Says that no more rows are taken for now.
  func park() {
    if case .rows(let decoder, _) = self { decoder.park() }
  }

  /// Lets go of it.
  func discard() {
    chunk.discard()
  }
}

extension LayerPicture {
  /// Makes what this picture's rows come from.
  func chunk(_ inflater: PNGRowReader.Inflater, in pool: ChunkPool) -> LayerChunk {
    if hasRows { return .rows(LayerDecoder(self, inflater, in: pool), format) }
    return .pixels(place.pixels(header, in: pool, label: place.name), width: header.width)
  }
}

extension EntryPlace {
  /// Makes a chunk of all pixels of the picture that lies here, 8-bit RGBA with straight alpha.
  func pixels(_ header: PNGHeader, in pool: ChunkPool, label: String) -> BufferChunk {
    .png(header, in: pool, label: label, alpha: .straight) { decode in
      try file.checkUnchanged()
      try decode(open())
    }
  }
}
