/// Source-over on rows of pixels, at 16 bits a channel.
///
/// Planes hold premultiplied RGBA, 65 535 being full, so that each layer adds less than 1/65 535 of rounding: the final
/// 8-bit value is exact to its last place after thousands of layers, where 8-bit planes would drift after a few.
enum SourceOver {
  /// Bytes of one pixel of a plane.
  static let pixelByteCount = 8
  /// The value of a full channel, and of an opacity of 1.
  static let full: UInt32 = 65_535

  /// An opacity in steps of 1/65 535.
  static func opacity(_ value: Double) -> UInt32 {
    UInt32((value * Double(full)).rounded())
  }

  /// Lays a row of 8-bit RGBA with straight alpha over a row of a plane.
  static func blend(
    straight source: UnsafePointer<UInt8>, count: Int, opacity: UInt32, over plane: UnsafeMutablePointer<UInt16>
  ) {
    for index in stride(from: 0, to: 4 * count, by: 4) where source[index + 3] != 0 {
      // At most 255 * 65 535 + 127, so 32 bits do. The same rounding for colour as for alpha keeps colour <= alpha.
      let alpha = (UInt32(source[index + 3]) &* opacity &+ 127) / 255
      let rest = full &- alpha
      for channel in 0..<3 {
        let color = (UInt32(source[index + channel]) &* alpha &+ 127) / 255
        plane[index + channel] = UInt16(truncatingIfNeeded: color &+ scaled(plane[index + channel], rest))
      }
      plane[index + 3] = UInt16(truncatingIfNeeded: alpha &+ scaled(plane[index + 3], rest))
    }
  }

  /// Lays a row of 16-bit RGBA with straight alpha over a row of a plane.
  static func blend(
    straight source: UnsafePointer<UInt16>, count: Int, opacity: UInt32, over plane: UnsafeMutablePointer<UInt16>
  ) {
    for index in stride(from: 0, to: 4 * count, by: 4) where source[index + 3] != 0 {
      let alpha = scaled(source[index + 3], opacity)
      let rest = full &- alpha
      for channel in 0..<3 {
        let color = scaled(source[index + channel], alpha)
        plane[index + channel] = UInt16(truncatingIfNeeded: color &+ scaled(plane[index + channel], rest))
      }
      plane[index + 3] = UInt16(truncatingIfNeeded: alpha &+ scaled(plane[index + 3], rest))
    }
  }

  /// Lays a row of one plane over a row of another.
  static func blend(
    plane source: UnsafePointer<UInt16>, count: Int, opacity: UInt32, over plane: UnsafeMutablePointer<UInt16>
  ) {
    for index in stride(from: 0, to: 4 * count, by: 4) where source[index + 3] != 0 {
      let rest = full &- scaled(source[index + 3], opacity)
      for channel in 0..<4 {
        let value = scaled(source[index + channel], opacity)
        plane[index + channel] = UInt16(truncatingIfNeeded: value &+ scaled(plane[index + channel], rest))
      }
    }
  }

  /// Turns a row of a plane into 8-bit RGBA with straight alpha, each value rounded to nearest.
  static func resolve(
    _ plane: UnsafePointer<UInt16>, count: Int, into pixels: UnsafeMutablePointer<UInt8>
  ) {
    for index in stride(from: 0, to: 4 * count, by: 4) {
      let alpha = UInt32(plane[index + 3])
      let narrowed = UInt8(truncatingIfNeeded: (alpha &+ 128) / 257)
      for channel in 0..<3 {
        let color = narrowed == 0 ? 0 : (UInt32(plane[index + channel]) &* 255 &+ alpha / 2) / alpha
        pixels[index + channel] = UInt8(truncatingIfNeeded: min(255, color))
      }
      pixels[index + 3] = narrowed
    }
  }

  /// The nearest value to `value * factor / 65 535`, for a factor up to 65 535.
  @inline(__always)
  private static func scaled(_ value: UInt16, _ factor: UInt32) -> UInt32 {
    // Exact, as for bytes: (t + (t >> 16)) >> 16 is the quotient, and t + (t >> 16) stays below 2^32.
    let t = UInt32(value) &* factor &+ 32_768
    return (t &+ (t >> 16)) >> 16
  }
}
