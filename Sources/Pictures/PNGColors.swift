internal import CPNGRows

/// What stands between the header and the pixels, as far as pixels depend on it: palette and transparency.
struct PNGColors {
  /// How pixels are stored.
  private(set) var pixels: cpr_pixels
  private var paletteCount = 0
  private let header: PNGHeader

  /// The bytes of 256 colours, RGBA.
  static let paletteByteCount = 1_024

  /// Takes chunks up to the first that holds pixels, which it begins.
  ///
  /// - Parameter palette: Where colours go; empty unless the picture is indexed.
  init(_ header: PNGHeader, from chunks: PNGChunks, palette: UnsafeMutableRawBufferPointer) throws {
    self.header = header
    pixels = cpr_pixels()
    pixels.channels = UInt8(header.colorType.channelCount)
    pixels.sample_bytes = UInt8(header.bitDepth / 8)
    pixels.is_indexed = header.colorType == .indexed
    // What the palette lacks is black and opaque, as libspng has it.
    for index in palette.indices { palette[index] = index % 4 == 3 ? 255 : 0 }
    chunks.stage = .prelude
    while true {
      try chunks.begin()
      switch chunks.kind {
      case .pixels:
        if pixels.is_indexed, paletteCount == 0 { throw chunks.damaged("the palette is missing") }
        return
      case .palette: try takePalette(from: chunks, into: palette)
      case .transparency: try takeTransparency(from: chunks, into: palette)
      case .end: throw chunks.damaged("there are no pixels")
      case let kind where kind.isCritical: throw chunks.damaged("unexpected \(chunks.name(kind))")
      default: chunks.skip()
      }
    }
  }

  private mutating func takePalette(from chunks: PNGChunks, into palette: UnsafeMutableRawBufferPointer) throws {
    let isAllowed = header.colorType != .grayscale && header.colorType != .grayscaleAlpha
    guard isAllowed, paletteCount == 0, !pixels.has_key else { throw chunks.damaged("a palette out of place") }
    guard (3...768).contains(chunks.remaining), chunks.remaining % 3 == 0 else {
      throw chunks.damaged("a palette of \(chunks.remaining) bytes")
    }
    paletteCount = chunks.remaining / 3
    try chunks.takeData { data in
      // In a picture of true colours it is only a suggestion.
      guard pixels.is_indexed else { return }
      for index in data.indices { palette[index / 3 * 4 + index % 3] = data[index] }
    }
  }

  private mutating func takeTransparency(
    from chunks: PNGChunks, into palette: UnsafeMutableRawBufferPointer
  ) throws {
    let count = chunks.remaining
    let isRight =
      switch header.colorType {
      case .grayscale: count == 2
      case .truecolor: count == 6
      case .indexed: count > 0 && count <= paletteCount
      case .grayscaleAlpha, .truecolorAlpha: false
      }
    guard isRight, !pixels.has_key else { throw chunks.damaged("transparency out of place, of \(count) bytes") }
    // A second chunk of them is found by this for every colour type; indexed pixels are not compared to a key.
    pixels.has_key = true
    try chunks.takeData { data in
      if pixels.is_indexed {
        for index in data.indices { palette[4 * index + 3] = data[index] }
        return
      }
      // At 8 bits a sample, the low byte counts.
      let mask: UInt16 = header.bitDepth == 16 ? .max : 255
      let key = (0..<count / 2).map { (UInt16(data[2 * $0]) << 8 | UInt16(data[2 * $0 + 1])) & mask }
      pixels.key = (key[0], key.count > 1 ? key[1] : 0, key.count > 1 ? key[2] : 0)
    }
  }
}
