/// Collects the steps of a plan, bottom to top, and leaves out the groups that need not be.
struct PlanBuilder {
  /// A stack whose items are being added.
  private struct OpenStack {
    /// Where its group begins, if it has to be one.
    let firstStep: Int
    /// How many layers and groups it has so far, not counting what is inside groups.
    var partCount = 0
    /// How many planes its groups need, one inside the other.
    var planeCount = 0
  }

  private let width: Int
  private let height: Int
  private var open = [OpenStack(firstStep: 0)]

  /// The steps so far; nil where a group turned out not to be needed.
  private(set) var steps: [CompositionPlan.Step?] = []
  /// The layers that were added and can be seen.
  private(set) var layers: [CardLayer] = []
  /// How many layers were added that cannot.
  private(set) var skippedCount = 0
  /// How many planes are in use at most.
  var deepestPlane: Int { open[0].planeCount + 1 }

  init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// Adds a layer on top, unless it is fully transparent or misses the canvas.
  mutating func add(_ layer: CardLayer, opacity: Double, size: (width: Int, height: Int)) {
    let columns = (layer.x..<layer.x + size.width).clamped(to: 0..<width)
    let rows = (layer.y..<layer.y + size.height).clamped(to: 0..<height)
    guard opacity > 0, !columns.isEmpty, !rows.isEmpty else {
      skippedCount += 1
      return
    }
    let placed = CompositionPlan.PlacedLayer(
      index: layers.count, columns: columns, rows: rows, x: layer.x, y: layer.y, width: size.width)
    layers.append(layer)
    steps.append(.layer(placed, opacity: opacity))
    open[open.count - 1].partCount += 1
  }

  /// Begins a stack on top, whose lowest item comes next.
  mutating func beginStack() {
    open.append(OpenStack(firstStep: steps.count))
    steps.append(.beginGroup)
  }

  /// Ends the innermost stack, as a group only if it has to be one.
  ///
  /// With an opacity of 1 its parts can as well be laid over the outer plane one by one; a single part can take on its
  /// opacity. Both save a plane, and so a depth of nesting that nobody sees costs nothing.
  mutating func endStack(opacity: Double) {
    var stack = open.removeLast()
    if stack.partCount == 0 {
      steps.removeSubrange(stack.firstStep...)
    } else if opacity == 1 {
      steps[stack.firstStep] = nil
    } else if stack.partCount == 1 {
      steps[stack.firstStep] = nil
      steps[steps.count - 1] = steps[steps.count - 1]?.scaled(by: opacity)
    } else {
      steps.append(.endGroup(opacity: opacity))
      stack.partCount = 1
      stack.planeCount += 1
    }
    open[open.count - 1].partCount += stack.partCount
    open[open.count - 1].planeCount = max(open[open.count - 1].planeCount, stack.planeCount)
  }
}

extension CompositionPlan.Step {
  /// The last step of a part, with its opacity multiplied.
  fileprivate func scaled(by factor: Double) -> Self {
    switch self {
    case .layer(let placed, let opacity): .layer(placed, opacity: opacity * factor)
    case .endGroup(let opacity): .endGroup(opacity: opacity * factor)
    case .beginGroup: self
    }
  }
}
