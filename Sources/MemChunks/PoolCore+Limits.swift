import CMemChunks
import ChunkLedger

// What lies above a limit is freed: at once if it is unused, else when its use ends.
extension PoolCore {
  /// Frees what is ready above the keep limit, above a group's limit or above a lowered budget, leaving place for
  /// `bytes` that are about to come. Under the lock.
  func dropSurplus(for bytes: Int, _ after: inout Aftermath) {
    let target = isClosed ? 0 : max(0, ledger.keepLimit - bytes)
    guard ledger.hasSurplus(above: target) else { return }
    let slots = ledger.claimSurplus(above: target, protectedSince: frames.protectedSince, owner: &table)
    after.victims += victims(in: slots, .limit)
  }

  func setBudget(_ bytes: Int) {
    locked { after in
      self.ledger.setBudget(bytes)
      self.noteBudget()
      self.queue.markAll()
      self.updateKeepLimit()
      self.dropSurplus(for: 0, &after)
      self.serve(&after)
    }
    giveBackAboveKeepLimit()
  }

  func setKeepLimit(_ bytes: Int?) {
    locked { after in
      self.pressure.keepLimit = bytes
      self.updateKeepLimit()
      self.dropSurplus(for: 0, &after)
      self.serve(&after)
    }
    giveBackAboveKeepLimit()
  }

  func updateKeepLimit() {
    ledger.setKeepLimit(pressure.keepLimit(budget: ledger.budget))
    noteKeepLimit()
  }

  /// Frees everything that nobody is using. What is in use goes when that use ends; a generation that is running is a
  /// use, and keeps its product.
  func freeAll() {
    locked { after in
      let slots = self.ledger.claimSurplus(above: 0, protectedSince: self.frames.protectedSince, owner: &self.table)
      after.victims += self.victims(in: slots, .all)
      for slot in self.ledger.slots(in: .ready) { self.depart(slot, .all, &after) }
    }
    giveBack(above: 0)
  }

  /// Frees unused chunks, least recently used first, until at most so many bytes are ready.
  func trim(to target: Int) {
    locked { after in
      let slots = self.ledger.claimSurplus(
        above: target, protectedSince: self.frames.protectedSince, owner: &self.table)
      after.victims += self.victims(in: slots, .trimmed)
      // Still above: what is left is in use, and goes when that use ends, as far as the target asks.
      var staying = self.ledger.ready
      let inUse = self.ledger.slots(in: .ready)
        .map { (slot: $0, stamp: self.table.use(of: $0).stamp) }.sorted { $0.stamp < $1.stamp }
      for (slot, _) in inUse where staying > target && self.ledger.size(of: slot) > 0 {
        staying -= self.ledger.size(of: slot)
        self.depart(slot, .trimmed, &after)
      }
    }
    giveBack(above: target)
  }

  /// Frees unused chunks that were last used so long ago, in nanoseconds.
  func free(unusedFor age: UInt64) {
    locked { after in
      self.ages.note(stamp: RecencyClock.advance(self.clock), at: self.time())
      guard let stamp = self.ages.stamp(before: age, now: self.time()) else { return }
      let slots = self.ledger.claimUnused(
        since: stamp, protectedSince: self.frames.protectedSince, owner: &self.table)
      after.victims += self.victims(in: slots, .unused)
    }
    giveBack(above: 0)
  }

  /// Makes the process smaller after a large drop: free pages of the arena go back to the system, and what the C
  /// library kept of other memory.
  func giveBack(above target: Int) {
    locked { after in
      let excess = max(0, self.ledger.ready + self.ledger.arena.warmBytes - target)
      let spare = self.ledger.arena.warmBytes - self.ledger.pledged
      if excess > 0, spare > 0 { self.arena.giveBack(self.ledger.arena.giveBack(bytes: min(excess, spare))) }
      self.trimHeapAfterDrop(&after)
    }
  }

  /// How many bytes of larger products make it worth while to look through all that the C library has.
  private static let largeDrop = 1 << 20

  /// Has a thread of the pool's give back what the C library kept of a large drop, once. Under the lock.
  ///
  /// Not done by whoever caused it: it takes milliseconds where the heap is large, and a warning about memory comes on the
  /// thread that draws.
  private func trimHeapAfterDrop(_ after: inout Aftermath) {
    guard tallies.heapBytesFreed - tallies.heapBytesTrimmed >= Self.largeDrop else { return }
    tallies.heapBytesTrimmed = tallies.heapBytesFreed
    enqueue(Job(.use, trimHeap), &after)
  }

  /// What may be kept was lowered: free pages that have lain there until now are no exception.
  func giveBackAboveKeepLimit() { giveBack(above: lock.withLock { ledger.keepLimit }) }

  /// Done whenever the pool does something slow on behalf of somebody.
  func visit(_ after: inout Aftermath) {
    drainHits()
    let now = time()
    ages.note(stamp: RecencyClock.advance(clock), at: now)
    if pressure.recover(now: now) { updateKeepLimit() }
    if !lingering.isEmpty {
      let chunks = lingering
      lingering = []
      for chunk in chunks {
        let lane = ChunkWord.currentLane(chunk.word.load(ordering: .relaxed))
        if chunk.books[lane] >= 0 { departIfUnused(Slot(Int(chunk.books[lane])), &after) }
      }
      after.releases += chunks as [AnyObject]
    }
  }

  /// The handle is gone. Every product is freed once: now, or when its last use ends.
  func shutDown() {
    if isForked { return }
    locked { after in
      guard !self.isClosed else { return }
      self.isClosed = true
      let waiting = self.waitingRequests
      for request in waiting {
        self.deliver(.failed(.poolClosed(label: request.label, afterFork: false)), to: request, &after)
      }
      for slot in self.ledger.slots(in: .ready) { self.depart(slot, .closed, &after) }
      after.releases += self.lingering as [AnyObject]
      self.lingering = []
      self.dismissCompanions(&after)
      self.dismissWorkers(&after)
    }
  }
}

extension ChunkPool {
  /// Frees everything that nobody is using, and gives the memory back to the system.
  ///
  /// Returns after every `free()` has returned. What is in use, or was used in an open frame, goes when that
  /// use ends, and so does its memory. O(chunks that are ready).
  public func freeAll() { core.freeAll() }

  /// Frees unused chunks, least recently used first, until at most so many bytes are ready, and gives the memory back to
  /// the system.
  public func trim(to limit: ByteCount) { core.trim(to: limit.bytes) }

  /// Frees chunks that nobody has used for so long.
  ///
  /// The pool looks at the clock only when it does something slow, so the age of a use is known as precisely as
  /// the pool is visited: a chunk is never freed before it is so old, and perhaps later. A negative age frees all that
  /// nobody is using. Free pages of the pool's arena are given back to the system.
  public func free(unusedFor age: Duration) {
    core.free(unusedFor: age.nanoseconds)
  }

  /// Has something else done where what the C library keeps is to be given back, for tests.
  package func replaceHeapTrim(_ trim: @escaping @Sendable () -> Void) {
    core.locked { _ in self.core.trimHeap = trim }
  }
}
