package import MemChunks

/// How short memory is, told from how much of a limit is in use.
///
/// With a gap between rising and falling, so that a use at an edge does not go to and fro.
package struct LevelGauge {
  /// The shares of the limit at which a level begins. A group is killed at the whole of it, and the system looks at it only
  /// when a page is wanted: there must be room for what comes before a pool has freed something.
  package static let warning = 0.8
  package static let critical = 0.9
  /// How far the share must fall below the beginning of a level until that ends.
  package static let gap = 0.05

  package private(set) var level = PressureLevel.normal

  package init() {}

  /// Takes how much is in use now.
  package mutating func take(_ used: Int, of limit: Int) -> PressureLevel {
    let share = limit > 0 ? Double(used) / Double(limit) : 1
    func reaches(_ level: PressureLevel, _ edge: Double) -> Bool {
      share >= (self.level >= level ? edge - Self.gap : edge)
    }
    level = reaches(.critical, Self.critical) ? .critical : reaches(.warning, Self.warning) ? .warning : .normal
    return level
  }
}
