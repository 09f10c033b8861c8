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

/// Smooth noise over a whole picture, row by row.
///
/// It is worked out on a lattice and is straight in between, because smooth noise at every pixel takes longer than all
/// else that a layer needs.
struct SmoothRows {
  /// The noise of the row prepared last, from 0 to 1, one value for each pixel.
  private(set) var values: [Float]
  private let step: Int
  private let scale: Float
  private let seed: UInt64
  private var upper: [Float] = []
  private var lower: [Float] = []
  private var latticeRow = -1

  /// - Parameter frequency: About how many hills there are along the picture's height.
  init(width: Int, height: Int, frequency: Float, seed: UInt64) {
    values = [Float](repeating: 0, count: width)
    // The shortest waves are a fourth as long as the longest; they get eight points each, unless the picture is large.
    step = max(1, min(16, height / (32 * Int(frequency))))
    scale = frequency / Float(height)
    self.seed = seed
  }

  /// Works out the noise of row `y`.
  mutating func prepare(_ y: Int) {
    if y / step != latticeRow {
      upper = y / step == latticeRow + 1 && !lower.isEmpty ? lower : lattice(y / step)
      lower = lattice(y / step + 1)
      latticeRow = y / step
    }
    let share = Float(y % step) / Float(step)
    var index = 0
    var start = upper[0] + (lower[0] - upper[0]) * share
    for point in 1..<upper.count {
      let end = upper[point] + (lower[point] - upper[point]) * share
      let slope = (end - start) / Float(step)
      for position in 0..<min(step, values.count - index) { values[index + position] = start + slope * Float(position) }
      index += min(step, values.count - index)
      start = end
    }
  }

  private func lattice(_ row: Int) -> [Float] {
    (0...(values.count + step - 1) / step).map { column in
      SampleNoise.value(20 + scale * Float(column * step), 20 + scale * Float(row * step), seed: seed)
    }
  }
}
