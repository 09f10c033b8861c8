/// Source-over as it is meant, a value at a time: what the vectors of `CRowBlend` must come to, bit by bit.
enum ScalarSourceOver {
  private static let full: UInt32 = 65_535

  /// 8-bit RGBA with straight alpha over a plane.
  static func blend(straight source: [UInt8], opacity: UInt16, over plane: inout [UInt16]) {
    for index in stride(from: 0, to: source.count, by: 4) where source[index + 3] != 0 {
      // The same rounding for colour as for alpha keeps colour <= alpha.
      let alpha = (UInt32(source[index + 3]) * UInt32(opacity) + 127) / 255
      for channel in index..<index + 3 {
        let color = (UInt32(source[channel]) * alpha + 127) / 255
        plane[channel] = UInt16(color + scaled(plane[channel], full - alpha))
      }
      plane[index + 3] = UInt16(alpha + scaled(plane[index + 3], full - alpha))
    }
  }

  /// 16-bit RGBA with straight alpha over a plane.
  static func blend(straight source: [UInt16], opacity: UInt16, over plane: inout [UInt16]) {
    for index in stride(from: 0, to: source.count, by: 4) where source[index + 3] != 0 {
      let alpha = scaled(source[index + 3], UInt32(opacity))
      for channel in index..<index + 3 {
        plane[channel] = UInt16(scaled(source[channel], alpha) + scaled(plane[channel], full - alpha))
      }
      plane[index + 3] = UInt16(alpha + scaled(plane[index + 3], full - alpha))
    }
  }

  /// One plane over another.
  static func blend(plane source: [UInt16], opacity: UInt16, over plane: inout [UInt16]) {
    for index in stride(from: 0, to: source.count, by: 4) where source[index + 3] != 0 {
      let rest = full - scaled(source[index + 3], UInt32(opacity))
      for channel in index..<index + 4 {
        plane[channel] = UInt16(scaled(source[channel], UInt32(opacity)) + scaled(plane[channel], rest))
      }
    }
  }

  /// A plane as 8-bit RGBA with straight alpha.
  static func resolve(_ plane: [UInt16]) -> [UInt8] {
    var pixels = [UInt8](repeating: 0, count: plane.count)
    for index in stride(from: 0, to: plane.count, by: 4) {
      let alpha = UInt32(plane[index + 3])
      pixels[index + 3] = UInt8((alpha + 128) / 257)
      if pixels[index + 3] == 0 { continue }
      for channel in index..<index + 3 {
        pixels[channel] = UInt8(min(255, (UInt32(plane[channel]) * 255 + alpha / 2) / alpha))
      }
    }
    return pixels
  }

  /// The nearest value to `value * factor / 65 535`.
  private static func scaled(_ value: UInt16, _ factor: UInt32) -> UInt32 {
    UInt32((UInt64(value) * UInt64(factor) + 32_767) / 65_535)
  }
}
