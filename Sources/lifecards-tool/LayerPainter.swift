/// Draws one layer of a sample document: a texture in two colours, and a shape that says where it is seen.
struct LayerPainter: Sendable {
  /// What a layer shows.
  enum Kind: CaseIterable {
    case landscape, photo, bubble, glow

    /// The lowest layer is a landscape; the others take turns.
    static func of(_ index: Int) -> Kind {
      index == 0 ? .landscape : [.photo, .glow, .bubble][index % 3]
    }
  }

  private typealias Color = SIMD3<Float>

  private let kind: Kind
  private let width: Int
  private let height: Int
  private let seed: UInt64
  private let dark: Color
  private let light: Color
  /// Half the shape's width and height, as shares of the layer's height.
  private let reach: SIMD2<Float>

  init(index: Int, width: Int, height: Int, seed: UInt64) {
    kind = Kind.of(index)
    self.width = width
    self.height = height
    self.seed = seed &* 1_000_003 &+ UInt64(index)
    var random = SampleNoise(seed: self.seed)
    let hue = random.unit() * 6
    dark = 0.45 * Self.color(hue: hue)
    light = 0.35 + 0.65 * Self.color(hue: hue + 0.6 + random.unit())
    reach = SIMD2(0.22 + 0.16 * random.unit(), 0.18 + 0.14 * random.unit())
  }

  /// The bytes of the layer.
  var byteCount: Int { 4 * width * height }

  /// Draws the layer into `byteCount` bytes: 8-bit RGBA with straight alpha.
  func paint(into bytes: inout MutableRawSpan) {
    bytes.withUnsafeMutableBytes { pixels in
      for row in 0..<height {
        for column in 0..<width {
          let (color, alpha) = pixel(column, row)
          let index = 4 * (row * width + column)
          // Nothing is drawn where nothing is seen: documents are mostly empty.
          let shown = alpha > 0 ? color : .zero
          pixels[index] = Self.byte(shown.x)
          pixels[index + 1] = Self.byte(shown.y)
          pixels[index + 2] = Self.byte(shown.z)
          pixels[index + 3] = Self.byte(alpha)
        }
      }
    }
  }

  private func pixel(_ column: Int, _ row: Int) -> (color: Color, alpha: Float) {
    // The middle of the layer is (0, 0), its upper edge y = -0.5.
    let x = (Float(column) - Float(width) / 2) / Float(height)
    let y = (Float(row) - Float(height) / 2) / Float(height)
    switch kind {
    case .landscape: return (landscape(x, y), 1)
    case .photo:
      let inside = -max(abs(x) - reach.x, abs(y) - reach.y)
      if inside < 0 { return (.zero, Self.clamped(1 + inside / 0.04) * 0.35) }
      return (inside < 0.012 ? Color(repeating: 0.97) : texture(x, y), 1)
    case .bubble:
      let distance = (x / reach.x * x / reach.x + y / reach.y * y / reach.y).squareRoot()
      let edge = Self.clamped((1 - distance) * reach.y * Float(height))
      return (distance > 0.96 ? dark : 0.8 + 0.2 * light, edge * (distance > 0.96 ? 0.9 : 0.7))
    case .glow:
      let distance = (x * x + y * y).squareRoot() / (reach.x + reach.y)
      let strength = Self.clamped(1 - distance)
      return (light, strength * strength * 0.8)
    }
  }

  private func landscape(_ x: Float, _ y: Float) -> Color {
    let ridge = 0.5 * SampleNoise.value(3 * x + 9, 0, seed: seed) - 0.15
    let shade = SampleNoise.value(6 * x + 40, 6 * y + 40, seed: seed)
    if y < ridge { return light * (0.75 - 0.4 * y) + 0.12 * shade }
    return dark * (0.6 + 0.8 * shade) + 0.15 * (y - ridge)
  }

  private func texture(_ x: Float, _ y: Float) -> Color {
    let coarse = SampleNoise.value(5 * x + 20, 5 * y + 20, seed: seed)
    let grain = SampleNoise.value(150 * x + 400, 150 * y + 400, seed: seed &+ 7)
    return dark + (light - dark) * coarse + 0.08 * (grain - 0.5)
  }

  /// A bright colour; the hue goes round once from 0 to 6.
  private static func color(hue: Float) -> Color {
    let channels = [Float(0), 2, 4].map { shift in
      let position = (hue + shift).truncatingRemainder(dividingBy: 6)
      // Not a pure colour: those glare.
      return 0.25 + 0.65 * clamped(abs(position - 3) - 1)
    }
    return Color(channels)
  }

  private static func clamped(_ value: Float) -> Float {
    min(1, max(0, value))
  }

  private static func byte(_ value: Float) -> UInt8 {
    UInt8(clamped(value) * 255 + 0.5)
  }
}
