import ChunkLedger

/// Something that happened in a pool, as its observer is told.
public enum PoolEvent: Sendable {
  /// A product was made: its bytes, and what that took in nanoseconds.
  case generated(label: String, group: String, size: Int, nanoseconds: UInt64)
  /// A product was freed, and why.
  case freed(label: String, group: String, size: Int, reason: FreeReason)
  /// `generate()` threw, or what it made could not be kept.
  case failed(label: String, group: String, error: ChunkError)
  /// A request found no room, or could not be served for another reason.
  case refused(label: String, error: ChunkError)
  /// The working set does not fit: said once until it has stopped.
  case thrashing(ThrashReport)
  /// A level of pressure was reported; what may be kept now, in bytes.
  case pressure(PressureLevel, keepLimit: Int)
}

/// Why a product was freed.
public enum FreeReason: String, Sendable, CaseIterable {
  /// To make room for another.
  case room
  /// It lay above a limit that was lowered: the keep limit, a group's, the budget.
  case limit
  /// `freeAll()`.
  case all
  /// `trim(to:)`.
  case trimmed
  /// Unused for long: `free(unusedFor:)`.
  case unused
  /// Out of date.
  case invalidated
  /// Discarded.
  case discarded
  /// The last reference to the chunk went.
  case dropped
  /// The pool was closed.
  case closed
}

extension ChunkPool {
  /// Sets who is told what happens; nil for nobody.
  ///
  /// The pool keeps the observer until another takes its place, and with it all that it captures. One that captures the
  /// pool must do so weakly, or the pool is never closed:
  ///
  ///     pool.observe { [weak pool] event in
  ///       if case .thrashing = event, let pool { print(pool) }
  ///     }
  ///
  /// The observer runs on whichever thread caused the event, after the lock was let go, so it may use the pool; events of
  /// different threads may arrive out of order. With none set, an event costs a comparison.
  public func observe(_ observer: (@Sendable (PoolEvent) -> Void)?) {
    core.locked { after in
      if let old = self.core.observer { after.releases.append(old as AnyObject) }
      self.core.observer = observer
    }
  }
}

extension PoolCore {
  func note(generated chunk: MemChunk, _ size: Int, _ cost: UInt64, _ after: inout Aftermath) {
    let report = thrash.note(
      size: size, freedAt: chunk.books.freedAt, budget: ledger.budget, readyChunks: ledger.slotCount)
    chunk.books.freedAt = 0
    if report != nil { tallies.thrashSignals += 1 }
    guard observer != nil else { return }
    after.events.append(.generated(label: chunk.label, group: chunk.group.label, size: size, nanoseconds: cost))
    if let report { after.events.append(.thrashing(report)) }
  }

  func note(freed chunk: MemChunk, _ size: Int, _ reason: FreeReason, _ after: inout Aftermath) {
    guard observer != nil else { return }
    after.events.append(.freed(label: chunk.label, group: chunk.group.label, size: size, reason: reason))
  }

  func note(failed chunk: MemChunk, _ error: ChunkError, _ after: inout Aftermath) {
    guard observer != nil else { return }
    after.events.append(.failed(label: chunk.label, group: chunk.group.label, error: error))
  }

  func note(refused error: ChunkError, _ request: Request, _ after: inout Aftermath) {
    // A prefetch that stops is no refusal: nobody waited for it.
    guard request.purpose != .prefetch else { return }
    tallies.refusals += 1
    guard observer != nil else { return }
    after.events.append(.refused(label: request.label, error: error))
  }

  func note(pressure level: PressureLevel, _ after: inout Aftermath) {
    guard observer != nil else { return }
    after.events.append(.pressure(level, keepLimit: ledger.keepLimit))
  }
}
