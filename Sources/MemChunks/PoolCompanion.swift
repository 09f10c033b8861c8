/// Something that acts on a pool from outside and ends with it: it follows a limit, or passes on pressure.
package protocol PoolCompanion: AnyObject, Sendable {
  /// The pool has closed, and its chunks are freed. Called once, on any thread, without a lock. Must not wait for a thread
  /// that may be inside the pool.
  func poolHasClosed()
}

/// A pool as its companions see it. Does not keep it open, so that a companion's thread never is the one that closes it.
package struct PoolLink: Sendable {
  private let core: PoolCore

  fileprivate init(_ core: PoolCore) {
    self.core = core
  }

  /// `ChunkPool.budget`, to be set.
  package func setBudget(_ budget: ByteCount) { core.setBudget(budget.bytes) }

  /// `ChunkPool.report(_:)`.
  package func report(_ level: PressureLevel) { core.report(level) }
}

extension ChunkPool {
  /// The pool, without keeping it open.
  package var link: PoolLink { PoolLink(core) }

  /// Keeps `companion` until the pool closes, and tells it then.
  package func accompany(by companion: any PoolCompanion) {
    core.locked { _ in self.core.companions.append(companion) }
  }
}

extension PoolCore {
  /// The pool is closed. Under the lock.
  func dismissCompanions(_ after: inout Aftermath) {
    for companion in companions { after.wakes.append { companion.poolHasClosed() } }
    companions = []
  }
}
