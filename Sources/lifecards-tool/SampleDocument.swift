import Cards

/// A seeded document that looks like a card: a landscape, photographs, glows and bubbles, some of them in a group.
struct SampleDocument {
  let layerCount: Int
  let width: Int
  let height: Int
  let seed: UInt64

  /// The document without its pixels.
  ///
  /// The lowest layer is opaque and covers the canvas; the others are shifted by up to a quarter of it to either side,
  /// and every third of them lets through what is below. Of a larger document, four layers form a translucent group.
  var document: CardDocument {
    var random = SampleNoise(seed: seed)
    var layers = (0..<layerCount).map { index in
      CardLayer(
        name: "\(LayerPainter.Kind.of(index)) \(index + 1)", source: "data/layer\(index).png",
        x: index == 0 ? 0 : random.offset(width / 4), y: index == 0 ? 0 : random.offset(height / 4),
        blend: CardBlend(opacity: index > 0 && index % 3 == 0 ? 0.75 : 1))
    }
    layers.reverse()
    let grouped = layerCount >= 8 ? 2..<6 : 0..<0
    let root = CardStack(name: "card")
    var items: [CardDocument.Item] = [.stackStart(root)]
    for (index, layer) in layers.enumerated() {
      if index == grouped.lowerBound, !grouped.isEmpty {
        items.append(.stackStart(CardStack(name: "album", blend: CardBlend(opacity: 0.85))))
      }
      items.append(.layer(layer))
      if index + 1 == grouped.upperBound, let start = items.lastIndex(where: \.isStackStart) {
        items.append(.stackEnd(start: start))
      }
    }
    items.append(.stackEnd(start: 0))
    return CardDocument(width: width, height: height, items: items)
  }

  /// What draws a layer of the document.
  func painter(of layer: CardLayer) -> LayerPainter {
    let index = Int(layer.source.filter(\.isNumber)) ?? 0
    return LayerPainter(index: index, width: width, height: height, seed: seed)
  }
}

extension CardDocument.Item {
  fileprivate var isStackStart: Bool {
    if case .stackStart = self { true } else { false }
  }
}
