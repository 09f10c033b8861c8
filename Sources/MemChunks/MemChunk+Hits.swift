public import CMemChunks
public import Synchronization

// The fast path. What it costs: one addition on the chunk's word, one subtraction, one store of the stamp.
extension MemChunk {
  /// Gives the chunk a stamp above every stamp that this thread gave before, and above every stamp that anybody
  /// gave before the pool's last slow step.
  ///
  /// Each thread counts for itself, so that hits of different threads write to no common line; the pool's
  /// clock is only read. It moves on by 65 536 whenever the pool does something slow, and a thread that has counted
  /// further than that since says so. So uses by one thread are ordered exactly; uses by different threads are
  /// ordered exactly if anything was generated, freed or framed between them, and count as simultaneous
  /// if not. A shared counter would order those too, and cost every hit a line that all threads write.
  @inlinable
  final func touch() {
    let thread = mc_thread_current()!
    let now = clock.pointee.load(ordering: .relaxed)
    let next = max(now, thread.pointee.stamp) &+ 1
    if next &- now >= RecencyClock.step { RecencyClock.publish(next, to: clock) }
    thread.pointee.stamp = next
    stamp.store(next, ordering: .relaxed)
  }

  /// Begins a use that ends with `leaveScope`; returns the lane to leave.
  @inlinable
  final func enterScope(_ limit: Duration?) throws(ChunkError) -> UInt64 {
    if let lane = tryEnterScope() { return lane }
    return try enterScopeSlowly(limit)
  }

  /// A hit, or nil.
  @inlinable
  final func tryEnterScope() -> UInt64? {
    touch()
    let lane = word.load(ordering: .relaxed) &>> ChunkWord.laneShift & 1
    let old = word.wrappingAdd(
      ChunkWord.oneUse | ChunkWord.oneUser(lane), ordering: .acquiringAndReleasing
    ).oldValue
    mc_thread_current()!.pointee.scopes &+= 1
    if old & ChunkWord.scopeMask == ChunkWord.ready | lane &<< ChunkWord.laneShift || hitIsWatched(old, lane) {
      return lane
    }
    leaveScope(lane)
    return nil
  }

  @inlinable
  final func leaveScope(_ lane: UInt64) {
    mc_thread_current()!.pointee.scopes &-= 1
    let old = word.wrappingSubtract(ChunkWord.oneUser(lane), ordering: .acquiringAndReleasing).oldValue
    if old & ChunkWord.noticesForScope != 0 { useEnded(Int(lane), old, byToken: false) }
  }

  @usableFromInline
  final func enterScopeSlowly(_ limit: Duration?) throws(ChunkError) -> UInt64 {
    let lane = try obtain(.scope, limit)
    mc_thread_current()!.pointee.scopes &+= 1
    return UInt64(lane)
  }

  /// A hit for a token: as for a scope, but it is counted as a token and belongs to no thread.
  final func enterToken(_ limit: Duration?) throws(ChunkError) -> Int {
    if let lane = tryEnterToken() { return lane }
    return try obtain(.token, limit)
  }

  final func tryEnterToken() -> Int? {
    touch()
    let lane = word.load(ordering: .relaxed) &>> ChunkWord.laneShift & 1
    // Tokens are counted before the user and uncounted after it: there are never fewer than users by token.
    tokens.wrappingAdd(1, ordering: .acquiringAndReleasing)
    let old = word.wrappingAdd(
      ChunkWord.oneUse | ChunkWord.oneUser(lane), ordering: .acquiringAndReleasing
    ).oldValue
    if old & ChunkWord.scopeMask == ChunkWord.ready | lane &<< ChunkWord.laneShift
      || hitIsWatched(old, lane, HitNote.pinned)
    {
      return Int(lane)
    }
    takeBackToken(Int(lane))
    return nil
  }

  final func leaveToken(_ lane: Int) {
    // Before the product can go. A token that was there before anybody listened ends one that was told of then.
    if word.load(ordering: .relaxed) & ChunkWord.watched != 0 { report(HitNote.unpinned) }
    takeBackToken(lane)
  }

  private final func takeBackToken(_ lane: Int) {
    let old = word.wrappingSubtract(ChunkWord.oneUser(UInt64(lane)), ordering: .acquiringAndReleasing).oldValue
    tokens.wrappingSubtract(1, ordering: .acquiringAndReleasing)
    if old & ChunkWord.notices != 0 { useEnded(lane, old, byToken: true) }
  }

  /// Whether the word that a touch found is a hit's after all, only that hits are watched. Reports it then.
  @usableFromInline
  final func hitIsWatched(_ old: UInt64) -> Bool {
    guard old & ChunkWord.touchMask == ChunkWord.ready | ChunkWord.watched else { return false }
    report(HitNote.hit)
    return true
  }

  /// The same of a scope or a token in a lane.
  @usableFromInline
  final func hitIsWatched(_ old: UInt64, _ lane: UInt64) -> Bool { hitIsWatched(old, lane, HitNote.hit) }

  private final func hitIsWatched(_ old: UInt64, _ lane: UInt64, _ note: UInt32) -> Bool {
    let hit = ChunkWord.ready | ChunkWord.watched | lane &<< ChunkWord.laneShift
    guard old & ChunkWord.scopeMask == hit else { return false }
    report(note)
    return true
  }

  /// A use ended that somebody wants to hear of. Takes the lock only if it matters.
  @usableFromInline
  final func useEnded(_ lane: Int, _ old: UInt64, byToken: Bool) {
    let users = ChunkWord.users(old, lane) - 1
    // Folded users are not in the word: with some of them, nobody who leaves is the last.
    let isShort = old & ChunkWord.folded != 0 && users < ChunkWord.fewUsers
    let isLast = users == 0
    let byTokens = byToken ? 0 : Int(tokens.load(ordering: .acquiring))
    let lastScopeLeft =
      old & ChunkWord.parkedByScope != 0 && users <= byTokens
      || old & ChunkWord.retired != 0 && ChunkWord.usersOfBoth(old) - 1 <= byTokens
    let isAwaited = old & (ChunkWord.parked | ChunkWord.retired) != 0
    if isShort || isAwaited && (isLast || byToken || lastScopeLeft) { core.useEnded(of: self, lane) }
  }

  /// Uses since the chunk was made. Exact while nobody is using it.
  final var totalUses: UInt64 { books.foldedUses &+ ChunkWord.uses(word.load(ordering: .relaxed)) }
}

extension ChunkWord {
  /// The notices that can concern the end of a scope.
  @usableFromInline static let noticesForScope = parked | retired | folded
}

/// The counter that orders uses; see `MemChunk.touch()`.
@usableFromInline
enum RecencyClock {
  @usableFromInline static let step: UInt64 = 1 << 16

  /// A thread has counted a whole step past the clock: the clock follows.
  @usableFromInline
  static func publish(_ stamp: UInt64, to clock: UnsafeMutablePointer<Atomic<UInt64>>) {
    clock.pointee.max(stamp & ~(step - 1), ordering: .relaxed)
  }

  /// Moves the clock above every stamp given before, and returns a stamp between those and all that follow. Under the
  /// pool's lock.
  static func advance(_ clock: UnsafeMutablePointer<Atomic<UInt64>>) -> UInt64 {
    clock.pointee.wrappingAdd(step, ordering: .relaxed).newValue
  }

  /// A stamp not below any given until now.
  static func latest(_ clock: UnsafeMutablePointer<Atomic<UInt64>>) -> UInt64 {
    clock.pointee.load(ordering: .relaxed) &+ (step - 1)
  }
}
