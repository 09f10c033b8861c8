package import MemChunks

/// The levels of several sources made into one that does not flutter. Times are nanoseconds.
///
/// It rises at once. It falls only when no source has said more for a while: what the pools let go of at the edge of a limit
/// takes the level below that edge, and without this the next use would take it up again.
package struct PressureHold {
  private struct Report {
    var level = PressureLevel.normal
    var end = UInt64.max
  }

  /// How long a level stands after the last source has left it.
  let calm: UInt64
  private var reports: [Report]
  package private(set) var level = PressureLevel.normal
  /// Since when the sources have been below the level.
  private var belowSince: UInt64?

  package init(sources: Int, calm: Duration) {
    self.calm = calm.nanoseconds
    reports = Array(repeating: Report(), count: sources)
  }

  /// Takes what a source has to say.
  package mutating func take(_ signal: PressureSignal, from source: Int, now: UInt64) {
    let length = signal.duration?.nanoseconds
    reports[source] = Report(level: signal.level, end: length.map { now &+ $0 } ?? .max)
    update(now: now)
  }

  /// Brings the level up to date.
  package mutating func update(now: UInt64) {
    for index in reports.indices where reports[index].end <= now {
      // It was so until it ended, though nobody looked just then.
      if reports[index].level == level { belowSince = min(belowSince ?? .max, reports[index].end) }
      reports[index] = Report()
    }
    let said = reports.map(\.level).max() ?? .normal
    if said >= level {
      (level, belowSince) = (said, nil)
    } else {
      let since = belowSince ?? now
      belowSince = since
      if now &- since >= calm { (level, belowSince) = (said, nil) }
    }
  }
}
