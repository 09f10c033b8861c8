/// The opacity that each item of a document is shown with, 0 for what cannot be seen.
///
/// A pass-through stack hands its opacity down to its items and keeps 1 for itself. Fails for a visible item whose
/// operator is not source-over, unless any is allowed; what a hidden stack holds does not matter.
struct ShownOpacities {
  private var opacities: [Double]
  /// What the open stacks hand down, the innermost last.
  private var inherited: [Double] = [1]
  private let file: String
  private let allowsAnyOperator: Bool

  /// The opacity of the item at `index`.
  subscript(index: Int) -> Double { opacities[index] }

  init(_ document: CardDocument, file: String, allowsAnyOperator: Bool) throws(CardError) {
    self.file = file
    self.allowsAnyOperator = allowsAnyOperator
    opacities = Array(repeating: 0, count: document.items.count)
    for (index, item) in document.items.enumerated() {
      switch item {
      case .layer(let layer):
        opacities[index] = try shown(layer.blend, of: "layer \"\(layer.name)\"")
      case .stackStart(let stack):
        let opacity = try shown(stack.blend, of: "stack \"\(stack.name)\"")
        let handsDown = stack.isolation == .passThrough
        opacities[index] = handsDown ? 1 : opacity
        inherited.append(handsDown || opacity == 0 ? opacity : 1)
      case .stackEnd: inherited.removeLast()
      }
    }
  }

  private func shown(_ blend: CardBlend, of item: String) throws(CardError) -> Double {
    let outer = inherited[inherited.count - 1]
    guard blend.isVisible, outer > 0 else { return 0 }
    // Also at opacity 0, where some operators would still erase what is below.
    guard allowsAnyOperator || blend.compositeOperator == CardBlend.sourceOver else {
      throw .unsupportedOperator(file: file, item: item, compositeOperator: blend.compositeOperator)
    }
    return blend.opacity * outer
  }
}
