import Cards

/// Composes a document the plain way: recursive, in floating point, one value at a time.
struct ReferenceComposition {
  let document: CardDocument
  /// The pictures by their entry: 8-bit RGBA with straight alpha.
  let pictures: [String: (width: Int, height: Int, pixels: [UInt8])]

  /// Premultiplied RGBA from 0 to 1.
  func composed() -> [SIMD4<Double>] {
    var position = document.items.startIndex
    return stack(&position)
  }

  /// The largest difference between the result and a picture, in steps of 1/255 of alpha and alpha-multiplied colour.
  func largestDifference(to picture: [UInt8]) -> Double {
    composed().enumerated().reduce(0) { most, element in
      let difference = Self.premultiplied(picture, element.offset) - element.element
      return max(most, 255 * max(difference.max(), -difference.min()))
    }
  }

  private typealias Part = (pixels: [SIMD4<Double>], opacity: Double)

  /// All stacks are taken as isolated.
  private func stack(_ position: inout Int) -> [SIMD4<Double>] {
    position += 1
    var parts: [Part] = []
    while true {
      switch document.items[position] {
      case .layer(let layer):
        parts.append((pixels(of: layer), layer.blend.isVisible ? layer.blend.opacity : 0))
        position += 1
      case .stackStart(let inner):
        let part = self.stack(&position)
        parts.append((part, inner.blend.isVisible ? inner.blend.opacity : 0))
      case .stackEnd:
        position += 1
        return flatten(parts)
      }
    }
  }

  private func flatten(_ parts: [Part]) -> [SIMD4<Double>] {
    var result = [SIMD4<Double>](repeating: .zero, count: document.width * document.height)
    for part in parts.reversed() {
      for index in result.indices {
        let source = part.pixels[index] * part.opacity
        result[index] = source + result[index] * (1 - source.w)
      }
    }
    return result
  }

  private func pixels(of layer: CardLayer) -> [SIMD4<Double>] {
    let picture = pictures[layer.source]!
    var result = [SIMD4<Double>](repeating: .zero, count: document.width * document.height)
    for y in 0..<document.height {
      for x in 0..<document.width {
        let (column, row) = (x - layer.x, y - layer.y)
        guard (0..<picture.width).contains(column), (0..<picture.height).contains(row) else { continue }
        result[y * document.width + x] = Self.premultiplied(picture.pixels, row * picture.width + column)
      }
    }
    return result
  }

  private static func premultiplied(_ pixels: [UInt8], _ index: Int) -> SIMD4<Double> {
    let alpha = Double(pixels[4 * index + 3]) / 255
    let color = (0..<3).map { Double(pixels[4 * index + $0]) / 255 * alpha }
    return SIMD4(color[0], color[1], color[2], alpha)
  }
}
