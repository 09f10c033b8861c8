internal import CSpng

/// What a PNG file says about its picture before the first pixel.
public struct PNGHeader: Sendable, Hashable {
  /// How the samples of a pixel are to be understood (PNG specification, 11.2.2).
  public enum ColorType: UInt8, Sendable, Hashable {
    /// One grey sample a pixel.
    case grayscale = 0
    /// Red, green and blue.
    case truecolor = 2
    /// An index into a palette.
    case indexed = 3
    /// Grey and alpha.
    case grayscaleAlpha = 4
    /// Red, green, blue and alpha.
    case truecolorAlpha = 6
  }

  /// Pixels in a row.
  public let width: Int
  /// Rows in the picture.
  public let height: Int
  /// Bits per sample: 1, 2, 4, 8 or 16.
  public let bitDepth: Int
  /// How samples are to be understood.
  public let colorType: ColorType
  /// Whether the rows come in the seven passes of Adam7.
  public let isInterlaced: Bool

  /// The size of the decoded picture: four bytes a pixel, rows without gaps.
  public var rgbaByteCount: Int { 4 * width * height }

  /// The most memory that decoding takes beside the picture, in bytes.
  ///
  /// Measured with libspng 0.7.3: 53 KB, most of it the inflate state, and two rows, three if interlaced; the reader's
  /// own row; and 48 KB more where the file lies compressed in an archive. Large ancillary chunks come on top, within
  /// `PNGLimits`.
  public var decoderByteCount: Int { (104 << 10) + 4 * width * (bitDepth == 16 ? 8 : 4) }
}

extension PNGHeader {
  /// Takes over a header that libspng has read and checked; nil for a colour type that it should have refused.
  init?(_ header: spng_ihdr) {
    guard let colorType = ColorType(rawValue: header.color_type) else { return nil }
    self.init(
      width: Int(header.width), height: Int(header.height), bitDepth: Int(header.bit_depth), colorType: colorType,
      isInterlaced: header.interlace_method != 0)
  }
}

/// How much a PNG file may ask for before it is refused.
///
/// A few bytes can claim any size, so these hold before anything is allocated. Pixels themselves are bounded by the
/// budget of the pool they are decoded into.
public struct PNGLimits: Sendable, Hashable {
  /// The most pixels that a side may have.
  ///
  /// A decoder works on about three rows, so this bounds its own memory.
  public var side: Int
  /// The most bytes that one ancillary chunk may have.
  public var chunkByteCount: Int
  /// The most bytes that all kept ancillary chunks may have together.
  public var cacheByteCount: Int

  /// Makes limits; the defaults are 65 535 pixels a side, 1 MB for a chunk and 4 MB for all.
  public init(side: Int = 65_535, chunkByteCount: Int = 1 << 20, cacheByteCount: Int = 4 << 20) {
    self.side = side
    self.chunkByteCount = chunkByteCount
    self.cacheByteCount = cacheByteCount
  }
}
