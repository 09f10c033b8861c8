import CMemChunks
import ChunkLedger
import Synchronization

// Ends of uses, and changes from outside: invalidate, discard.
extension PoolCore {
  /// A use ended that somebody wanted to hear of.
  func useEnded(of chunk: MemChunk, _ lane: Int) {
    if isForked { return }
    locked { after in
      self.noteEnd(of: chunk, lane, &after)
      self.serve(&after)
    }
  }

  /// Looks at a chunk of which a use has ended. Under the lock.
  func noteEnd(of chunk: MemChunk, _ lane: Int, _ after: inout Aftermath) {
    chunk.unfoldUsers()
    guard chunk.books[lane] >= 0 else { return }
    let slot = Slot(Int(chunk.books[lane]))
    let users = ChunkWord.users(chunk.word.load(ordering: .acquiring), lane)
    switch ledger.state(of: slot) {
    case .retired where users == 0:
      free(retired: chunk, lane, slot, &after)
    case .ready where users == 0:
      chunk.word.bitwiseAnd(~(ChunkWord.parked | ChunkWord.parkedByScope), ordering: .acquiringAndReleasing)
      if ledger.isParked(slot) { ledger.unpark(slot, use: table.use(of: slot)) }
      departIfUnused(slot, &after)
      if ledger.size(of: slot) > 0 || ledger.state(of: slot) != .ready { dropSurplus(for: 0, &after) }
    case .ready where ledger.isParked(slot): parkIfUsed(chunk, slot)
    default: break
    }
  }

  /// The end of the chunk's use is to be noticed: of the one that it is in now, or of the next.
  func watch(_ chunk: MemChunk, _ slot: Slot) {
    parkIfUsed(chunk, slot)
    chunk.word.bitwiseOr(ChunkWord.parked, ordering: .acquiringAndReleasing)
  }

  /// Says anew by what a chunk in use is held; puts nothing out of line that is unused.
  func parkIfUsed(_ chunk: MemChunk, _ slot: Slot) {
    let lane = ChunkWord.currentLane(chunk.word.load(ordering: .relaxed))
    var now = chunk.word.load(ordering: .acquiring)
    while ChunkWord.users(now, lane) > 0 {
      let byScope = chunk.isUsedByScope(now, lane)
      let then = now & ~ChunkWord.parkedByScope | ChunkWord.parked | (byScope ? ChunkWord.parkedByScope : 0)
      let (exchanged, original) = chunk.word.compareExchange(
        expected: now, desired: then, successOrdering: .acquiringAndReleasing, failureOrdering: .acquiring)
      if exchanged {
        if ledger.size(of: slot) > 0 || ledger.departs(slot) { ledger.park(slot, byTokens: !byScope) }
        return
      }
      now = original
    }
  }

  /// Frees a chunk out of turn if nobody is using it and no frame protects it. Under the lock.
  func freeIfUnused(_ slot: Slot, _ reason: FreeReason, _ after: inout Aftermath) {
    // A pool that is closed has no frames any more.
    let protectedSince = isClosed ? .max : frames.protectedSince
    guard let claimed = ledger.claim(slot, protectedSince: protectedSince, owner: &table) else { return }
    after.victims += victims(in: [claimed], reason)
  }

  private func free(retired chunk: MemChunk, _ lane: Int, _ slot: Slot, _ after: inout Aftermath) {
    ledger.beginFreeing(slot)
    retired.removeAll { $0 == slot }
    let other = chunk.books[1 - lane]
    if other < 0 || ledger.state(of: Slot(Int(other))) != .retired {
      chunk.word.bitwiseAnd(~ChunkWord.retired, ordering: .acquiringAndReleasing)
    }
    freesRunning += 1
    after.victims.append(Victim(chunk: chunk, slot: slot, lane: lane, reason: .invalidated))
  }

  /// The product is out of date. Whoever uses it keeps it until they let go; the next use generates.
  func invalidate(_ chunk: MemChunk) {
    if isForked { return }
    let thread = mc_thread_current()!
    // The size that is being asked for is told after this, and is no older than it.
    let isInSize = Activity.isMeasuring(chunk, thread)
    locked { after in
      if !isInSize { chunk.books.version &+= 1 }
      self.queue.mark(chunk)
      guard let generation = chunk.books.generation else {
        self.expire(chunk, &after)
        // Who waits for it may need less than before.
        return self.serve(&after)
      }
      // Thrown away and made anew, a product that invalidates itself would be so for ever.
      if Waits.maker(of: generation) != thread {
        generation.outdated = .byOthers
      } else if generation.outdated == .no {
        generation.outdated = .byItself
      }
    }
  }

  /// Nobody begins to use a chunk's product from here on: it goes now, or when its last use ends. Under the lock.
  func expire(_ chunk: MemChunk, _ after: inout Aftermath) {
    let lane = ChunkWord.currentLane(chunk.word.load(ordering: .relaxed))
    guard chunk.books[lane] >= 0 else { return }
    let slot = Slot(Int(chunk.books[lane]))
    guard ledger.state(of: slot) == .ready else { return }
    if clearReady(chunk, lane) {
      ledger.retire(slot)
      retired.append(slot)
      if chunk.laneCount == 2, chunk.books[1 - lane] < 0 {
        chunk.word.bitwiseXor(ChunkWord.lane, ordering: .acquiringAndReleasing)
      }
    } else {
      ledger.beginFreeing(slot)
      freesRunning += 1
      after.victims.append(Victim(chunk: chunk, slot: slot, lane: lane, reason: .invalidated))
    }
  }

  /// Nobody begins to use the product from here on. True, and the end of their use will be reported, if somebody
  /// is using it.
  private func clearReady(_ chunk: MemChunk, _ lane: Int) -> Bool {
    var now = chunk.word.load(ordering: .relaxed)
    while true {
      let isUsed = ChunkWord.users(now, lane) > 0
      let cleared = now & ~(ChunkWord.ready | ChunkWord.parked | ChunkWord.parkedByScope)
      let (exchanged, original) = chunk.word.compareExchange(
        expected: now, desired: isUsed ? cleared | ChunkWord.retired : cleared,
        successOrdering: .acquiringAndReleasing, failureOrdering: .acquiring)
      if exchanged { return isUsed }
      now = original
    }
  }

  /// The product is not needed: it goes now, or when its last use ends.
  func discard(_ chunk: MemChunk) {
    if isForked { return }
    locked { after in
      if let generation = chunk.books.generation {
        generation.departs = true
        return
      }
      let lane = ChunkWord.currentLane(chunk.word.load(ordering: .relaxed))
      guard chunk.books[lane] >= 0 else { return }
      self.depart(Slot(Int(chunk.books[lane])), .discarded, &after)
    }
  }

  /// Frees a ready chunk now, or when the use that stands in the way ends.
  func depart(_ slot: Slot, _ reason: FreeReason, _ after: inout Aftermath) {
    guard ledger.state(of: slot) == .ready else { return }
    if !ledger.departs(slot) {
      ledger.markDeparting(slot)
      table.noteDeparture(slot, reason)
    }
    freeIfUnused(slot, reason, &after)
  }

  /// Frees a chunk that was in use when it was to go, for the reason given then. Under the lock.
  func departIfUnused(_ slot: Slot, _ after: inout Aftermath) {
    if ledger.departs(slot) { freeIfUnused(slot, table.seats[slot.index].departure, &after) }
  }
}

extension MemChunk {
  /// Says that the product is out of date: what it was generated from has changed.
  ///
  /// Those who are using it keep the old product until they let go; meanwhile both are counted. The
  /// next use generates. A subclass that keeps its product in its own fields can hold only one, so there the next use
  /// waits for the old one to be let go.
  ///
  /// A product that is being generated now is thrown away and made anew for those who wait, as often as it is invalidated
  /// meanwhile: if that goes on for ever, a deadline or cancelling the task ends the use, and nothing else. But what the
  /// generating thread itself invalidates, from inside the chunk's own `generate()` or from another that the same request
  /// makes before it, is not begun again. Those who wait for it get that product, once, and the next use generates.
  public final func invalidate() { core.invalidate(self) }

  /// Lets the product go now, or as soon as nobody is using it.
  public final func discard() { core.discard(self) }
}
