/// How colour and alpha stand together in a pixel.
public enum AlphaForm: Sendable, Hashable {
  /// Colour is multiplied by alpha, rounded to nearest: what drawing needs.
  case premultiplied
  /// Colour stands for itself, as in a PNG file: exact also where alpha is low, so the right form for what is
  /// composed at a higher precision later.
  case straight
}

/// Exact sample arithmetic, rounded to nearest; all fixed divisors are odd, so that no tie needs a rule.
enum Sample {
  /// The nearest 8-bit value to a 16-bit sample: v / 257.
  @inline(__always)
  static func narrowed(_ value: UInt16) -> UInt8 {
    UInt8(truncatingIfNeeded: (UInt32(value) + 128) / 257)
  }

  /// Colour times alpha over 255.
  @inline(__always)
  static func premultiplied(_ color: UInt8, _ alpha: UInt8) -> UInt8 {
    // (t + (t >> 8)) >> 8 is t / 255 for every product of two bytes plus one half.
    let t = UInt32(color) * UInt32(alpha) + 128
    return UInt8(truncatingIfNeeded: (t + (t >> 8)) >> 8)
  }

  /// Colour over alpha, times 255; at most 255, and 0 where alpha is 0.
  @inline(__always)
  static func unpremultiplied(_ color: UInt8, _ alpha: UInt8) -> UInt8 {
    guard alpha > 0 else { return 0 }
    return UInt8(min(255, (UInt32(color) * 255 + UInt32(alpha) / 2) / UInt32(alpha)))
  }
}
