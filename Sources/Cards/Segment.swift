/// A part of a composition that one thread does at a time: groups that begin, up to four layers over one plane, and
/// groups that end after them.
///
/// Source-over is associative, so a segment's layers can be composed among themselves while what is below is not done.
/// Where segments begin and end depends on the document alone, and so does every rounding: the same bytes come out
/// whatever the budget and the number of threads.
package struct Segment: Sendable {
  /// A layer, and how much of it is shown.
  package struct Layer: Sendable {
    package let placed: CompositionPlan.PlacedLayer
    package let opacity: UInt16
  }

  /// A group, as far as its own plane has to be cleared before it and laid over the one below after it.
  package struct Group: Sendable {
    /// The plane that is its own.
    package let plane: Int
    package var columns: Range<Int> = 0..<0
    package var rows: Range<Int> = 0..<0
    package var opacity: UInt16 = 0
  }

  /// The most layers of a segment: enough to share the cost of merging, few enough to keep many threads busy.
  package static let layerLimit = 4

  package var begins: [Group] = []
  package var layers: [Layer] = []
  package var ends: [Group] = []
  /// The plane that the layers are laid over.
  package var plane = 0
  /// The columns that layers reach.
  package var columns: Range<Int> = 0..<0
  /// The rows that it changes; in any other it has nothing to do.
  package var rows: Range<Int> = 0..<0

  /// The layers by their index in the plan.
  package var layerIndexes: Range<Int> {
    // A segment has at least one layer, and they follow each other.
    layers[0].placed.index..<layers[layers.count - 1].placed.index + 1
  }
}

extension CompositionPlan {
  /// The steps, cut into segments; in the order of the list, each can be merged once those before it are.
  package func segments() -> [Segment] {
    var groups = groups()
    var segments: [Segment] = []
    var current = Segment()
    var open: [Segment.Group] = []
    func finish() {
      segments.append(current)
      current = Segment()
    }
    groups.reverse()
    for step in steps {
      switch step {
      case .beginGroup:
        if !current.layers.isEmpty { finish() }
        // Every step that begins a group has been listed.
        let group = groups.removeLast()
        open.append(group)
        current.begins.append(group)
        current.rows = current.rows.hull(group.rows)
      case .layer(let placed, let opacity):
        if current.layers.count == Segment.layerLimit || !current.ends.isEmpty { finish() }
        current.plane = open.count
        current.layers.append(Segment.Layer(placed: placed, opacity: SourceOver.opacity(opacity)))
        current.columns = current.columns.hull(placed.columns)
        current.rows = current.rows.hull(placed.rows)
      case .endGroup:
        let group = open.removeLast()
        current.ends.append(group)
        current.rows = current.rows.hull(group.rows)
      }
    }
    if !current.layers.isEmpty { finish() }
    return segments
  }

  /// The groups in the order in which they begin, each with what its layers reach.
  private func groups() -> [Segment.Group] {
    var groups: [Segment.Group] = []
    var open: [Int] = []
    for step in steps {
      switch step {
      case .beginGroup:
        open.append(groups.count)
        groups.append(Segment.Group(plane: open.count))
      case .layer(let placed, _):
        if let innermost = open.last { groups[innermost].add(placed.columns, placed.rows) }
      case .endGroup(let opacity):
        let ended = open.removeLast()
        groups[ended].opacity = SourceOver.opacity(opacity)
        if let outer = open.last { groups[outer].add(groups[ended].columns, groups[ended].rows) }
      }
    }
    return groups
  }
}

extension Segment.Group {
  fileprivate mutating func add(_ columns: Range<Int>, _ rows: Range<Int>) {
    self.columns = self.columns.hull(columns)
    self.rows = self.rows.hull(rows)
  }
}

extension Range<Int> {
  /// The smallest range that holds both; an empty one holds nothing.
  func hull(_ other: Range<Int>) -> Range<Int> {
    if isEmpty { return other }
    if other.isEmpty { return self }
    return Swift.min(lowerBound, other.lowerBound)..<Swift.max(upperBound, other.upperBound)
  }
}
