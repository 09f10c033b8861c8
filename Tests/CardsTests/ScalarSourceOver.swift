/// Source-over as it is meant, a value at a time: what the vectors of `CRowBlend` must come to, bit by bit, and what their
/// speed is compared with. `Benchmarks` has a link to this file.
enum ScalarSourceOver {
  private static let full: UInt32 = 65_535

  /// Lays 8-bit RGBA with straight alpha over a plane.
  static func blend(
    straight source: UnsafePointer<UInt8>, count: Int, opacity: UInt16, over plane: UnsafeMutablePointer<UInt16>
  ) {
    for index in stride(from: 0, to: 4 * count, by: 4) where source[index + 3] != 0 {
      // At most 255 * 65 535 + 127, so 32 bits do. The same rounding for colour as for alpha keeps colour <= alpha.
      let alpha = (UInt32(source[index + 3]) &* UInt32(opacity) &+ 127) / 255
      let rest = full &- alpha
      for channel in index..<index + 3 {
        let color = (UInt32(source[channel]) &* alpha &+ 127) / 255
        plane[channel] = UInt16(truncatingIfNeeded: color &+ scaled(plane[channel], rest))
      }
      plane[index + 3] = UInt16(truncatingIfNeeded: alpha &+ scaled(plane[index + 3], rest))
    }
  }

  /// Lays 16-bit RGBA with straight alpha over a plane.
  static func blend(
    straight source: UnsafePointer<UInt16>, count: Int, opacity: UInt16, over plane: UnsafeMutablePointer<UInt16>
  ) {
    for index in stride(from: 0, to: 4 * count, by: 4) where source[index + 3] != 0 {
      let alpha = scaled(source[index + 3], UInt32(opacity))
      let rest = full &- alpha
      for channel in index..<index + 3 {
        plane[channel] = UInt16(
          truncatingIfNeeded: scaled(source[channel], alpha) &+ scaled(plane[channel], rest))
      }
      plane[index + 3] = UInt16(truncatingIfNeeded: alpha &+ scaled(plane[index + 3], rest))
    }
  }

  /// Lays one plane over another.
  static func blend(
    plane source: UnsafePointer<UInt16>, count: Int, opacity: UInt16, over plane: UnsafeMutablePointer<UInt16>
  ) {
    for index in stride(from: 0, to: 4 * count, by: 4) where source[index + 3] != 0 {
      let rest = full &- scaled(source[index + 3], UInt32(opacity))
      for channel in index..<index + 4 {
        let value = scaled(source[channel], UInt32(opacity))
        plane[channel] = UInt16(truncatingIfNeeded: value &+ scaled(plane[channel], rest))
      }
    }
  }

  /// Turns a plane into 8-bit RGBA with straight alpha.
  static func resolve(_ plane: UnsafePointer<UInt16>, count: Int, into pixels: UnsafeMutablePointer<UInt8>) {
    for index in stride(from: 0, to: 4 * count, by: 4) {
      let alpha = UInt32(plane[index + 3])
      let narrowed = UInt8(truncatingIfNeeded: (alpha &+ 128) / 257)
      for channel in index..<index + 3 {
        let color = narrowed == 0 ? 0 : (UInt32(plane[channel]) &* 255 &+ alpha / 2) / alpha
        pixels[channel] = UInt8(truncatingIfNeeded: min(255, color))
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
