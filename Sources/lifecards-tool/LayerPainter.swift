/// Draws one layer of a sample document, row by row from the top: 8-bit RGBA with straight alpha.
///
/// What it draws has the grain of a photograph, and so compresses like one.
struct LayerPainter {
  /// What a layer shows.
  enum Kind: CaseIterable {
    case landscape, photo, bubble, glow

    /// The lowest layer is a landscape; the others take turns.
    static func of(_ index: Int) -> Kind {
      index == 0 ? .landscape : [.photo, .glow, .bubble][index % 3]
    }
  }

  /// Red, green, blue from 0 to 1; the fourth is not used, and makes the arithmetic quick.
  typealias Color = SIMD4<Float>

  private let kind: Kind
  private let width: Int
  private let height: Int
  private let seed: UInt64
  private let shape: LayerShape
  private let scene: LayerScene
  private let tint: Color
  private var smooth: SmoothRows
  private var nextRow = 0

  /// Half the width of the grain, in steps of a channel: what a good camera adds.
  private static let grain: Float = 3.2

  init(index: Int, width: Int, height: Int, seed: UInt64) {
    kind = Kind.of(index)
    self.width = width
    self.height = height
    self.seed = seed &* 1_000_003 &+ UInt64(index)
    var random = SampleNoise(seed: self.seed)
    let hue = random.unit() * 6
    tint = 0.35 + 0.65 * Self.color(hue: hue + 0.6 + random.unit())
    shape = LayerShape(&random)
    scene = LayerScene(hue: hue, width: width, height: height, seed: self.seed, &random)
    smooth = SmoothRows(width: width, height: height, frequency: kind == .glow ? 2 : 5, seed: self.seed)
  }

  /// Draws the next row into `4 * width` bytes.
  mutating func drawRow(into row: UnsafeMutableRawBufferPointer) {
    smooth.prepare(nextRow)
    let y = (Float(nextRow) - Float(height) / 2) / Float(height)
    var grain = Grain(seed: seed, row: nextRow)
    let pixels = row.bindMemory(to: SIMD4<UInt8>.self)
    smooth.values.withUnsafeBufferPointer { smooth in
      for column in 0..<width {
        // The middle of the layer is (0, 0), its upper edge y = -0.5.
        let x = (Float(column) - Float(width) / 2) / Float(height)
        var (color, alpha) = pixel(x, y, column, smooth[column])
        // Nothing is drawn where nothing is seen: documents are mostly empty.
        guard alpha > 0 else {
          pixels[column] = .zero
          continue
        }
        color = color * 255 + Self.grain * grain.next()
        color.w = alpha * 255
        pixels[column] = Self.bytes(color)
      }
    }
    nextRow += 1
  }

  private func pixel(_ x: Float, _ y: Float, _ column: Int, _ smooth: Float) -> (color: Color, alpha: Float) {
    switch kind {
    case .landscape: return (scene.color(x, y, column, smooth), 1)
    case .photo:
      let depth = shape.depthInFrame(x, y)
      if depth < 0 { return (.zero, max(0, 1 + depth / 0.04) * 0.35) }
      return (depth < 0.012 ? Color(repeating: 0.95) : scene.color(x, y, column, smooth), 1)
    case .bubble:
      let depth = shape.depthInBubble(x, y)
      let edge = min(1, max(0, depth * Float(height)))
      return depth < 0.012 ? (0.5 * tint, edge * 0.9) : (0.85 + 0.15 * tint, edge * 0.75)
    case .glow:
      let light = max(0, smooth - 0.2)
      return (tint + (smooth - 0.5), light * shape.nearness(x, y))
    }
  }

  /// A bright colour; the hue goes round once from 0 to 6.
  static func color(hue: Float) -> Color {
    let channels = [Float(0), 2, 4, 0].map { shift in
      let position = (hue + shift).truncatingRemainder(dividingBy: 6)
      // Not a pure colour: those glare.
      return 0.25 + 0.65 * min(1, max(0, abs(position - 3) - 1))
    }
    return Color(channels)
  }

  private static func bytes(_ color: Color) -> SIMD4<UInt8> {
    let color = (color + 0.5).clamped(lowerBound: .zero, upperBound: Color(repeating: 255))
    return SIMD4(UInt8(color.x), UInt8(color.y), UInt8(color.z), UInt8(color.w))
  }
}

/// Noise without any pattern from pixel to pixel, its values around 0 and more often small than large.
private struct Grain {
  private var state: SIMD4<UInt32>

  init(seed: UInt64, row: Int) {
    var random = SampleNoise(seed: seed ^ UInt64(row) << 32)
    state = SIMD4((0..<4).map { _ in UInt32(truncatingIfNeeded: random.next()) | 1 })
  }

  /// Four numbers from -1 to 1: sums of two halves, and so like the sums of many small errors.
  mutating func next() -> SIMD4<Float> {
    // Marsaglia's xorshift, a row of its own for each channel.
    state ^= state &<< 13
    state ^= state &>> 17
    state ^= state &<< 5
    let sum = (state & 0xffff) &+ (state &>> 16)
    return SIMD4(Float(sum.x), Float(sum.y), Float(sum.z), Float(sum.w)) / 65_535 - 1
  }
}
