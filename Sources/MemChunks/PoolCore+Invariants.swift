import ChunkLedger
import Synchronization

extension ChunkPool {
  /// Stops the program if the pool's books contradict themselves. O(chunks), for tests.
  package func _checkInvariants() {
    let broken = core.locked { _ in core.firstBrokenInvariant() }
    if let broken { preconditionFailure("broken invariant: \(broken)") }
  }
}

extension ChunkPool {
  /// How many requests wait, for room or for a generation: so that a test can go on when a thread sleeps.
  package var _waiting: Int {
    core.lock.withLock { core.waitingRequests.count }
  }
}

extension ChunkPool {
  /// How long an idle thread of the pool's stays, in nanoseconds: so that a test can have them come and go.
  package var _workerPatience: UInt64 {
    get { core.lock.withLock { core.workers.patience } }
    set { core.lock.withLock { core.workers.patience = newValue } }
  }
}

extension ChunkPool {
  /// How many threads of its own the pool has now, and how many it can have at most.
  package var _threads: Int { core.lock.withLock { core.workers.count } }
  package static var _mostThreads: Int { WorkerBook.most }
}

extension PoolCore {
  fileprivate func firstBrokenInvariant() -> StaticString? {
    if let broken = ledger.firstBrokenInvariant() { return broken }
    if ledger.overdraft == 0, ledger.counted > ledger.budget { return "more is counted than the budget" }
    if !workers.isConsistent { return "threads or their seats are miscounted" }
    var dying = 0
    for (index, seat) in table.seats.enumerated() {
      let slot = Slot(index)
      if seat.isDying { dying += 1 }
      guard let chunk = seat.chunk else { continue }
      let wrong = chunk._withUnsafeGuaranteedRef { chunk -> StaticString? in
        if Int(chunk.books[seat.lane]) != index { return "a chunk does not know its slot" }
        let word = chunk.word.load(ordering: .acquiring)
        let isCurrent = ChunkWord.currentLane(word) == seat.lane
        let state = ledger.state(of: slot)
        if isCurrent, (word & ChunkWord.ready != 0) != (state == .ready) { return "a word and the books differ" }
        if ledger.isParked(slot), !seat.isDying, word & ChunkWord.parked == 0 {
          return "a parked chunk does not say so"
        }
        if (word & ChunkWord.folded == 0) != chunk.folds.isEmpty { return "folded users are miscounted" }
        if state == .retired, word & ChunkWord.retired == 0 { return "a retired product does not say so" }
        return nil
      }
      if let wrong { return wrong }
    }
    if Set(retired) != Set(ledger.slots(in: .retired)) { return "the retired products are not those of the books" }
    if dying != table.dying { return "dying chunks are miscounted" }
    if works.isEmpty, freesRunning == 0, ledger.pledged != 0 { return "something is pledged to nobody" }
    return nil
  }
}
