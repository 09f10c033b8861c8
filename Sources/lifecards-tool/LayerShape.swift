/// Where in a layer something is seen. Lengths are shares of the layer's height.
struct LayerShape {
  /// Half the width and half the height.
  private let reach: SIMD2<Float>
  /// Which way a bubble's tail points: to the left or to the right.
  private let side: Float

  init(_ random: inout SampleNoise) {
    reach = SIMD2(0.26 + 0.16 * random.unit(), 0.22 + 0.14 * random.unit())
    side = random.unit() < 0.5 ? -1 : 1
  }

  /// How far inside of a photograph's frame a point is; negative outside.
  func depthInFrame(_ x: Float, _ y: Float) -> Float {
    -max(abs(x) - reach.x, abs(y) - reach.y)
  }

  /// How far inside of a speech bubble a point is, roughly; negative outside.
  func depthInBubble(_ x: Float, _ y: Float) -> Float {
    let (u, v) = (x / reach.x, y / reach.y)
    let ellipse = (1 - (u * u + v * v).squareRoot()) * reach.y
    // Narrower from the middle of the bubble down to the tip, which lies below its rim.
    let tip: Float = 1.35
    let tail = v < 0 ? -1 : (0.3 * (tip - v) / tip - abs(u - side * 0.55 * v)) * reach.x
    return max(ellipse, tail)
  }

  /// 1 in the middle, and 0 from some distance on.
  func nearness(_ x: Float, _ y: Float) -> Float {
    max(0, 1 - (x * x + y * y) / (4 * reach.x * reach.x))
  }
}
