/// What a JPEG file says about its picture before the first pixel.
public struct JPEGHeader: Sendable, Hashable {
  /// How the samples of a pixel are to be understood.
  public enum Colors: Sendable, Hashable {
    /// One grey sample a pixel.
    case grayscale
    /// Brightness and two differences of colour (JFIF 1.02).
    case ycc
    /// Red, green and blue.
    case rgb
    /// Four inks.
    case cmyk
    /// Four inks, the first three as brightness and two differences of colour.
    case ycck
  }

  /// One kind of samples, and how finely it is sampled (ITU-T T.81, B.2.2).
  struct Component: Hashable {
    /// What scans call it.
    let identifier: UInt8
    /// Samples across and down, relative to those of the other components: 1 to 4.
    let across, down: Int
    /// Which quantisation table it uses.
    let quantization: UInt8
  }

  /// Pixels in a row.
  public let width: Int
  /// Rows in the picture.
  public let height: Int
  /// How samples are to be understood.
  public let colors: Colors
  /// How the picture has to be turned; width and height are those before that.
  public let orientation: PictureOrientation
  /// The bytes of its ICC profile, 0 if there is none. Rows come as they are stored, not converted.
  public let profileByteCount: Int
  /// Whether the picture comes in scans that each make it finer.
  public let isProgressive: Bool
  /// Whether it comes in several scans, be it progressive or component by component.
  ///
  /// Where the first scan holds all that there is, rows can be decoded as the file is read; otherwise each scan is
  /// followed through its own part of the file.
  public let hasSeveralScans: Bool
  /// The value of Adobe's marker, which says whether colours have been transformed; nil without the marker.
  public let adobeTransform: UInt8?
  let components: [Component]

  /// Samples a pixel: 1, 3 or 4.
  public var componentCount: Int { components.count }

  /// Bits a sample; files with 12 are not read.
  public var bitDepth: Int { 8 }

  /// Whether CMYK samples say how much of white is left, as Adobe's programs store them.
  var isInverted: Bool { adobeTransform != nil }
}

/// How much a JPEG file may ask for before it is refused.
///
/// A few bytes can claim any size, so these hold before anything is allocated. Pixels themselves are bounded by the
/// budget of the pool they are decoded into.
public struct JPEGLimits: Sendable, Hashable {
  /// The most pixels that a side may have. libjpeg reads no more than 65 500.
  public var side: Int
  /// The most scans that a picture may come in: each costs time, and a state of its own.
  public var scanCount: Int

  /// Makes limits; the defaults are 65 500 pixels a side, and 100 scans.
  ///
  /// - Precondition: No limit is more than its default, or less than 1.
  public init(side: Int = 65_500, scanCount: Int = 100) {
    precondition((1...65_500).contains(side) && (1...100).contains(scanCount), "limits can only be narrowed")
    self.side = side
    self.scanCount = scanCount
  }
}
