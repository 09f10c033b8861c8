/// A landscape under a sun: what the photographs of a sample show, and its lowest layer.
struct LayerScene {
  private typealias Color = LayerPainter.Color

  private let zenith: LayerPainter.Color
  private let horizon: LayerPainter.Color
  private let land: LayerPainter.Color
  private let sun: SIMD2<Float>
  /// How high the far and the near hills are in each column.
  private let far: [Float]
  private let near: [Float]

  init(hue: Float, width: Int, height: Int, seed: UInt64, _ random: inout SampleNoise) {
    zenith = 0.9 * LayerPainter.color(hue: hue)
    horizon = 0.4 + 0.6 * LayerPainter.color(hue: hue + 1.3)
    land = 0.55 * LayerPainter.color(hue: hue + 2 + random.unit())
    sun = SIMD2(0.5 * random.unit() - 0.25, -0.05 - 0.2 * random.unit())
    func hills(_ frequency: Float, _ top: Float, _ seed: UInt64) -> [Float] {
      (0..<width).map { column in
        top + 0.3 * (SampleNoise.value(frequency * Float(column) / Float(height) + 9, 0, seed: seed) - 0.5)
      }
    }
    far = hills(5, 0.06, seed &+ 11)
    near = hills(3, 0.17, seed &+ 12)
  }

  func color(_ x: Float, _ y: Float, _ column: Int, _ smooth: Float) -> LayerPainter.Color {
    if y > near[column] { return land * (0.35 + 0.9 * smooth) }
    // Distance takes colour away.
    if y > far[column] { return 0.5 * land * (0.6 + 0.8 * smooth) + 0.4 * horizon }
    let distance = ((x - sun.x) * (x - sun.x) + (y - sun.y) * (y - sun.y)).squareRoot()
    let sky = zenith + (horizon - zenith) * min(1, max(0, y + 0.6)) + 0.35 * (smooth - 0.5)
    return distance < 0.05 ? Color(1, 0.97, 0.85, 0) : sky + 0.25 * max(0, 1 - distance / 0.4)
  }
}
