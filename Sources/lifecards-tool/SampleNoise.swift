/// Smooth noise from a seed: the same on every machine.
struct SampleNoise {
  private var state: UInt64

  init(seed: UInt64) {
    state = seed
  }

  /// The next of a sequence of numbers (SplitMix64).
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    return Self.mixed(state)
  }

  /// A number from 0 to 1.
  mutating func unit() -> Float {
    Float(next() >> 40) / Float(1 << 24)
  }

  /// A whole number from `-limit` to `limit`.
  mutating func offset(_ limit: Int) -> Int {
    Int(next() % UInt64(2 * limit + 1)) - limit
  }

  /// Noise at a point, from 0 to 1: three octaves of values on lattices, blended smoothly.
  static func value(_ x: Float, _ y: Float, seed: UInt64) -> Float {
    var sum: Float = 0
    var weight: Float = 0.5
    var (x, y) = (x, y)
    for octave in 0..<3 {
      sum += weight * lattice(x, y, seed &+ UInt64(octave))
      weight /= 2
      (x, y) = (2.1 * x, 2.1 * y)
    }
    return sum / 0.875
  }

  private static func lattice(_ x: Float, _ y: Float, _ seed: UInt64) -> Float {
    let (left, top) = (x.rounded(.down), y.rounded(.down))
    let (column, row) = (Int64(left), Int64(top))
    let (u, v) = (smooth(x - left), smooth(y - top))
    let upper = mix(corner(column, row, seed), corner(column + 1, row, seed), u)
    let lower = mix(corner(column, row + 1, seed), corner(column + 1, row + 1, seed), u)
    return mix(upper, lower, v)
  }

  private static func corner(_ column: Int64, _ row: Int64, _ seed: UInt64) -> Float {
    let key = seed &* 0x9e37_79b9_7f4a_7c15 ^ UInt64(bitPattern: column << 32 ^ row)
    return Float(mixed(key) >> 40) / Float(1 << 24)
  }

  private static func mixed(_ value: UInt64) -> UInt64 {
    var value = value
    value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
    return value ^ value >> 31
  }

  private static func smooth(_ value: Float) -> Float {
    value * value * (3 - 2 * value)
  }

  private static func mix(_ first: Float, _ second: Float, _ share: Float) -> Float {
    first + (second - first) * share
  }
}
