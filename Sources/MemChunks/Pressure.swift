import ChunkLedger

/// How short memory is. Sources only report a level; what follows is the pool's.
public enum PressureLevel: Int, Sendable, Comparable, CaseIterable {
  /// There is enough.
  case normal
  /// It gets short.
  case warning
  /// The system is about to kill somebody.
  case critical

  /// By severity.
  public static func < (left: PressureLevel, right: PressureLevel) -> Bool { left.rawValue < right.rawValue }
}

/// What share of the budget may stay ready while nobody uses it, at each level of pressure.
public struct KeepShares: Sendable, Equatable {
  /// At `.warning`; half by default.
  public var warning: Double {
    didSet { warning = Self.share(warning) }
  }
  /// At `.critical`; nothing by default.
  public var critical: Double {
    didSet { critical = Self.share(critical) }
  }
  /// How long, after the pressure has ended, until a further quarter of the budget may be kept again. Not above 0: all
  /// of it is at once.
  public var recoveryStep: Duration

  /// Shares between 0 and 1. What lies outside is taken as the nearer of the two, and what is no number as 0.
  public init(warning: Double = 0.5, critical: Double = 0, recoveryStep: Duration = .seconds(2)) {
    self.warning = Self.share(warning)
    self.critical = Self.share(critical)
    self.recoveryStep = recoveryStep
  }

  private static func share(_ number: Double) -> Double { number > 0 ? min(number, 1) : 0 }

  func share(at level: PressureLevel) -> Double {
    switch level {
    case .normal: 1
    case .warning: warning
    case .critical: critical
    }
  }
}

/// The pool's answer to pressure: the keep limit. Guarded by the pool's lock.
struct PressureBook {
  private(set) var level = PressureLevel.normal
  var shares = KeepShares()
  /// What the user set; nil for the budget.
  var keepLimit: Int?
  /// What may be kept now, as a share of the budget.
  private(set) var share = 1.0
  private var lastStep: UInt64 = 0
  /// No response before this time, unless the level rises: a storm of warnings costs little.
  private var quietUntil: UInt64 = 0

  func keepLimit(budget: Int) -> Int {
    min(keepLimit ?? budget, budget, Int(Double(budget) * share))
  }

  /// Takes a report. True when the pool should respond now.
  mutating func report(_ level: PressureLevel, now: UInt64) -> Bool {
    let rises = level > self.level
    self.level = level
    if level == .normal {
      // Recovery is by steps, from whatever is kept now.
      lastStep = now
      return false
    }
    share = rises ? min(share, shares.share(at: level)) : shares.share(at: level)
    return rises || now >= quietUntil
  }

  /// The response took so long; useless ones are spaced out to twenty times that.
  mutating func responded(from start: UInt64, to end: UInt64) {
    quietUntil = end &+ 20 &* (end &- start)
  }

  /// After the pressure: a quarter of the budget more for each step of time. True when the share rose.
  mutating func recover(now: UInt64) -> Bool {
    guard level == .normal, share < 1 else { return false }
    let step = max(1, shares.recoveryStep.nanoseconds)
    let steps = (now &- lastStep) / step
    guard steps > 0 else { return false }
    lastStep &+= steps &* step
    share = min(1, share + 0.25 * Double(min(steps, 4)))
    return true
  }
}

extension PoolCore {
  func report(_ level: PressureLevel) {
    let start = time()
    let responds = locked { after -> Bool in
      let responds = self.pressure.report(level, now: start)
      self.updateKeepLimit()
      self.note(pressure: level, &after)
      if responds { self.dropSurplus(for: 0, &after) }
      return responds
    }
    guard responds else { return }
    // Whoever reports pressure wants the memory, not its place in our books.
    giveBackAboveKeepLimit()
    locked { _ in self.pressure.responded(from: start, to: self.time()) }
  }
}

extension ChunkPool {
  /// Tells the pool how short memory is. Returns after what had to be freed has been freed.
  ///
  /// The level lowers the keep limit, and keeps it lowered until a lower level is reported. After `.normal` it recovers by
  /// steps: a quarter of the budget for each `KeepShares.recoveryStep` that has passed, taken when the pool is next asked
  /// for something that is missing. Until then `statistics.keepLimit` says what may be kept.
  /// The budget stays: what is needed under pressure is still generated and used, and goes when its use ends. May be
  /// called from any thread and as often as the system likes.
  public func report(_ level: PressureLevel) { core.report(level) }

  /// The level last reported.
  public var pressure: PressureLevel { core.read { core.pressure.level } }

  /// What may be kept at each level.
  public var keepShares: KeepShares {
    get { core.read { core.pressure.shares } }
    set { core.locked { _ in self.core.pressure.shares = newValue } }
  }
}
