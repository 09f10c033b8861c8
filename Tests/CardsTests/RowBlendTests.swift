import CRowBlend
import TestSupport
import Testing

/// The vectors of blending against the plain arithmetic, bit by bit.
@Suite struct RowBlendTests {
  private static let opacities: [UInt16] = [0, 1, 127, 128, 255, 256, 32_767, 32_768, 40_000, 65_408, 65_534, 65_535]

  /// Random premultiplied pixels, every third transparent or opaque.
  private func plane(_ count: Int, using random: inout SeededGenerator) -> [UInt16] {
    (0..<count).flatMap { _ -> [UInt16] in
      let alpha = [UInt16.random(in: 0...65_535, using: &random), .random(in: 0...400, using: &random), 0, 65_535]
        .randomElement(using: &random)!
      return (0..<3).map { _ in UInt16.random(in: 0...alpha, using: &random) } + [alpha]
    }
  }

  @Test("every colour under every alpha", arguments: opacities)
  func everyColor(opacity: UInt16) {
    var random = SeededGenerator(seed: UInt64(opacity))
    let below = plane(256, using: &random)
    for alpha in 0...255 {
      let source = (0...255).flatMap { [UInt8($0), UInt8(255 - $0), UInt8($0 / 2), UInt8(alpha)] }
      var (expected, found, foundOf16) = (below, below, below)
      ScalarSourceOver.blend(straight: source, count: 256, opacity: opacity, over: &expected)
      crb_over_8(source, 256, opacity, &found)
      crb_over_16(source.map { UInt16($0) * 257 }, 256, opacity, &foundOf16)
      let isRight = found == expected && foundOf16 == expected
      #expect(isRight, "alpha \(alpha)")
    }
  }

  @Test func everyOpacity() {
    var random = SeededGenerator(seed: 1)
    for opacity in 0...UInt16.max {
      let source = (0..<12).map { _ in
        [0, 255, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random)!
      }
      var (found, expected) = ([UInt16](), plane(3, using: &random))
      found = expected
      ScalarSourceOver.blend(straight: source, count: 3, opacity: opacity, over: &expected)
      crb_over_8(source, 3, opacity, &found)
      if found != expected { Issue.record("opacity \(opacity): \(source)") }
    }
  }

  @Test("rows of every length, and nothing beyond them", arguments: opacities)
  func everyLength(opacity: UInt16) {
    var random = SeededGenerator(seed: UInt64(opacity))
    for count in 0...40 {
      for _ in 0..<5 {
        // Runs, so that the ways around the arithmetic are taken too.
        var source8 = (0..<4 * count).map { _ in UInt8.random(in: 0...255, using: &random) }
        for start in stride(from: 0, to: count, by: 6) {
          let alpha = [0, 255, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random)!
          for pixel in start..<min(start + 6, count) { source8[4 * pixel + 3] = alpha }
        }
        let source16 = zip(source8, 0...).map { sample, index in
          // The same runs, other colours.
          index % 4 == 3 ? UInt16(sample) * 257 : .random(in: 0...65_535, using: &random)
        }
        let above = plane(count, using: &random)
        let below = plane(count + 1, using: &random)

        var (expected, found) = (below, below)
        ScalarSourceOver.blend(straight: source8, count: count, opacity: opacity, over: &expected)
        crb_over_8(source8, count, opacity, &found)
        if found != expected { Issue.record("8 bits, \(count) pixels") }

        (expected, found) = (below, below)
        ScalarSourceOver.blend(straight: source16, count: count, opacity: opacity, over: &expected)
        crb_over_16(source16, count, opacity, &found)
        if found != expected { Issue.record("16 bits, \(count) pixels") }

        (expected, found) = (below, below)
        ScalarSourceOver.blend(plane: above, count: count, opacity: opacity, over: &expected)
        crb_over_plane(above, count, opacity, &found)
        if found != expected { Issue.record("a plane, \(count) pixels") }
      }
    }
  }

  private func resolved(_ plane: [UInt16], _ resolve: (UnsafePointer<UInt16>, Int, UnsafeMutablePointer<UInt8>) -> Void)
    -> [UInt8]
  {
    var pixels = [UInt8](repeating: 7, count: plane.count + 4)
    resolve(plane, plane.count / 4, &pixels)
    return pixels
  }

  @Test func everyAlphaIsResolvedToTheNearest() {
    var random = SeededGenerator(seed: 3)
    let plane = (0...UInt16.max).flatMap { alpha -> [UInt16] in
      [alpha, alpha / 2, .random(in: 0...alpha, using: &random), alpha]
    }
    let isRight =
      resolved(plane) { crb_resolve($0, $1, $2) }
      == resolved(plane) { ScalarSourceOver.resolve($0, count: $1, into: $2) }
    #expect(isRight)
  }

  @Test func everyOpaqueColorIsResolvedToTheNearest() {
    let plane = (0...UInt16.max).flatMap { color -> [UInt16] in [color, ~color, color / 2, 65_535] }
    for plane in [plane, Array(plane.dropLast(4))] {
      let isRight =
        resolved(plane) { crb_resolve($0, $1, $2) }
        == resolved(plane) { ScalarSourceOver.resolve($0, count: $1, into: $2) }
      #expect(isRight)
    }
  }
}
