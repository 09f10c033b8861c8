internal import CRowBlend

/// Source-over on rows of pixels, at 16 bits a channel: `CRowBlend`, which says how exact it is, in Swift's words.
enum SourceOver {
  /// Bytes of one pixel of a plane.
  static let pixelByteCount = 8
  /// The value of a full channel, and of an opacity of 1.
  static let full: UInt16 = 65_535

  /// An opacity in steps of 1/65 535.
  static func opacity(_ value: Double) -> UInt16 {
    UInt16((value * Double(full)).rounded())
  }

  /// Lays a row of 8-bit RGBA with straight alpha over a row of a plane.
  static func blend(
    straight source: UnsafePointer<UInt8>, count: Int, opacity: UInt16, over plane: UnsafeMutablePointer<UInt16>
  ) {
    crb_over_8(source, count, opacity, plane)
  }

  /// Lays a row of 16-bit RGBA with straight alpha over a row of a plane.
  static func blend(
    straight source: UnsafePointer<UInt16>, count: Int, opacity: UInt16, over plane: UnsafeMutablePointer<UInt16>
  ) {
    crb_over_16(source, count, opacity, plane)
  }

  /// Lays a row of one plane over a row of another.
  static func blend(
    plane source: UnsafePointer<UInt16>, count: Int, opacity: UInt16, over plane: UnsafeMutablePointer<UInt16>
  ) {
    crb_over_plane(source, count, opacity, plane)
  }

  /// Turns a row of a plane into 8-bit RGBA with straight alpha, each value rounded to nearest.
  static func resolve(
    _ plane: UnsafePointer<UInt16>, count: Int, into pixels: UnsafeMutablePointer<UInt8>
  ) {
    crb_resolve(plane, count, pixels)
  }
}
