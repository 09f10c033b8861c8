/// Runs of the arena that are marked as if they had been freed: what would lie together, seen before anything goes.
///
/// Only the ends of what would be free are marked, and nothing is listed, so that a try costs a few steps where a free and
/// its undoing would cost as much as making a product. Ends with `ArenaMap.end`, before the map is used for anything else.
package struct FreeTrial {
  /// What stood there before, in the order in which it was written over.
  fileprivate var overwritten: [(page: Int, edge: Int32)] = []

  package init() { overwritten.reserveCapacity(32) }
}

extension ArenaMap {
  /// Marks a used run as free and warm. Returns how many warm pages would lie together then.
  package mutating func tryFree(_ run: PageRun, _ trial: inout FreeTrial) -> Int {
    var whole = run
    if run.start > 0, marks[run.start - 1].edge > 0 {
      whole.start -= Int(marks[run.start - 1].edge)
      whole.count += run.start - whole.start
    }
    if run.end < frontier, marks[run.end].edge > 0 { whole.count += Int(marks[run.end].edge) }
    for page in [whole.start, whole.end - 1] {
      trial.overwritten.append((page, marks[page].edge))
      marks[page].edge = Int32(whole.count)
    }
    return whole.count
  }

  /// Takes all marks of a trial back.
  package mutating func end(_ trial: consuming FreeTrial) {
    for (page, edge) in trial.overwritten.reversed() { marks[page].edge = edge }
  }
}
