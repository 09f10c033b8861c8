public import MemChunks

/// A budget as a part of what this process may have.
///
///     let pool = ChunkPool(budget: .share(0.25))
///     let pool = ChunkPool(budget: .share(0.25, atMost: .megabytes(256), atLeast: .megabytes(8)))
public struct BudgetShare: Sendable, Equatable {
  private var fraction: Double
  private var most: ByteCount
  private var least: ByteCount

  /// A part of what this process may have.
  ///
  /// - Parameters:
  ///   - fraction: From 0 to 1. What lies outside is taken as the nearer of the two, and what is no number as 0.
  ///   - most: The budget is never more, however much there is.
  ///   - least: It is never less, however little there is; but not more than `most`, nor than all that the process may have.
  public static func share(
    _ fraction: Double, atMost most: ByteCount = .bytes(.max), atLeast least: ByteCount = .bytes(0)
  ) -> BudgetShare {
    BudgetShare(fraction: fraction > 0 ? min(fraction, 1) : 0, most: most, least: least)
  }

  /// The budget where these are the limits.
  public func budget(of limits: ProcessLimits) -> ByteCount {
    let limit = limits.least.size
    return min(max(.bytes(Int(Double(limit.bytes) * fraction)), least), most, limit)
  }
}

extension ChunkPool {
  /// Makes an empty pool whose budget is a part of what this process may have, and follows it.
  ///
  /// The limits are read now and then once a second, by one thread for all pools, until the pool closes. When the least of
  /// them has changed, the budget is set anew; a budget that was set by hand stays until then. Lowering it runs `free()`
  /// on that thread.
  public convenience init(budget: BudgetShare) {
    self.init(budget: budget, files: .system)
  }

  /// The same with files of the caller's, for tests.
  package convenience init(budget share: BudgetShare, files: SystemFiles) {
    let follower = LimitFollower(share, files)
    self.init(budget: follower.budget)
    follower.follow(self)
  }
}

/// Sets a pool's budget when what the process may have has changed.
package final class LimitFollower: PoolCompanion, @unchecked Sendable {
  private static let period = Duration.seconds(1)

  private let share: BudgetShare
  private let files: SystemFiles
  private let lock = Lock()
  // Guarded by the lock.
  package private(set) var budget: ByteCount
  private var watch: Poller.Watch?

  package init(_ share: BudgetShare, _ files: SystemFiles) {
    self.share = share
    self.files = files
    budget = share.budget(of: .current(files))
  }

  /// Polled, not notified: limits of ancestors, of other mounts and of the process send nothing, and reading all costs 0.1 ms.
  /// Where no thread is to be had, the budget stays as it is.
  func follow(_ pool: ChunkPool) {
    let link = pool.link
    let watch = Poller.Watch { [weak self] _ in
      self?.look(link)
      return Self.period
    }
    lock.withLock { self.watch = watch }
    pool.accompany(by: self)
    _ = Poller.shared.add(watch, lookAfter: Self.period)
  }

  /// Reads the limits, and sets the budget if it has become another.
  package func look(_ link: PoolLink) {
    let now = share.budget(of: .current(files))
    let hasChanged = lock.withLock { () -> Bool in
      defer { budget = now }
      return budget != now
    }
    if hasChanged { link.setBudget(now) }
  }

  package func poolHasClosed() {
    if let watch = lock.withLock({ watch }) { Poller.shared.remove(watch) }
  }
}
