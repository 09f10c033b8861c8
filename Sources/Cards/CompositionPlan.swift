/// What has to be done to compose a document, bottom to top.
///
/// Only what can be seen is in it: layers that are hidden, fully transparent or off the canvas are left out, and so
/// never decoded. Groups are left out wherever source-over, being associative, gives the same without them.
package struct CompositionPlan: Sendable {
  /// One thing to do.
  package enum Step: Sendable {
    /// Lay a layer over the current plane.
    case layer(PlacedLayer, opacity: Double)
    /// Begin a group: a further, transparent plane becomes the current one.
    case beginGroup
    /// End a group: lay the current plane over the one below, which becomes the current one.
    case endGroup(opacity: Double)
  }

  /// A layer that meets the canvas.
  package struct PlacedLayer: Sendable {
    /// The layer's place among those drawn, the lowest being 0.
    package let index: Int
    /// The canvas's columns that it covers, cropped.
    package let columns: Range<Int>
    /// The canvas's rows that it covers, cropped.
    package let rows: Range<Int>
    /// The canvas's column where its left edge is.
    package let x: Int
    /// The canvas's row where its upper edge is.
    package let y: Int
    /// Pixels in a row of the layer.
    package let width: Int
  }

  /// The canvas's width in pixels.
  package let width: Int
  /// The canvas's height in pixels.
  package let height: Int
  /// What to do, in this order.
  package let steps: [Step]
  /// How many planes are in use at most.
  package let planeCount: Int
  /// The layers that are drawn, by their index.
  package let layers: [CardLayer]
  /// How many layers are left out because nothing of them can be seen.
  package let skippedCount: Int

  /// Where the drawn layers lie, by their index.
  package var placed: [PlacedLayer] {
    steps.compactMap { if case .layer(let placed, _) = $0 { placed } else { nil } }
  }

  /// Plans a document.
  ///
  /// `size` is asked for the size of each layer that is visible, once, to see whether it meets the canvas. Takes time
  /// in proportion to the items of the document.
  ///
  /// - Parameter allowsAnyOperator: Whether operators other than source-over are taken for that: what a document needs
  ///   can be told also where it cannot be composed.
  /// - Throws: `CardError.unsupportedOperator`, and what `size` throws.
  package init(
    _ document: CardDocument, file: String, allowsAnyOperator: Bool = false,
    size: (CardLayer) throws -> (width: Int, height: Int)
  ) throws {
    let shown = try ShownOpacities(document, file: file, allowsAnyOperator: allowsAnyOperator)
    var builder = PlanBuilder(width: document.width, height: document.height)
    // Items are listed from the top, so that, walking back, each stack's end comes before its start.
    for (index, item) in document.items.enumerated().reversed() {
      switch item {
      case .layer(let layer):
        let opacity = shown[index]
        builder.add(layer, opacity: opacity, size: opacity > 0 ? try size(layer) : (0, 0))
      case .stackEnd: builder.beginStack()
      case .stackStart: builder.endStack(opacity: shown[index])
      }
    }
    width = document.width
    height = document.height
    steps = builder.steps.compactMap { $0 }
    planeCount = builder.deepestPlane
    layers = builder.layers
    skippedCount = builder.skippedCount
  }
}
