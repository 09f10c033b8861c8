import CMemChunks
import ChunkLedger
import Synchronization

/// Who sits in which of the ledger's slots: the bridge from the books to the chunks. Guarded by the pool's lock.
///
/// The table does not keep chunks alive. It may still look at them: a chunk that is going away must take the lock
/// to leave its seat before its memory is given back.
struct ChunkTable: ~Copyable, LedgerOwner {
  struct Seat {
    var chunk: Unmanaged<MemChunk>?
    var lane = 0
    /// Its last reference went while somebody looked for victims; its own deinit frees it.
    var isDying = false
    /// For what it goes, if the ledger says that it goes when its use ends.
    var departure = FreeReason.discarded
  }

  private(set) var seats: [Seat] = []
  /// References that claims took and gave up; released when the lock is no longer held.
  var owed: [MemChunk] = []
  /// Seated chunks whose last reference is going on some thread, maybe this one.
  private(set) var dying = 0
  private let clock: UnsafeMutablePointer<Atomic<UInt64>>

  init(clock: UnsafeMutablePointer<Atomic<UInt64>>) {
    self.clock = clock
  }

  mutating func seat(_ chunk: MemChunk, lane: Int, in slot: Slot) {
    while seats.count <= slot.index { seats.append(Seat()) }
    seats[slot.index] = Seat(chunk: Unmanaged.passUnretained(chunk), lane: lane)
  }

  mutating func clear(_ slot: Slot) {
    if seats[slot.index].isDying { dying -= 1 }
    seats[slot.index] = Seat()
  }

  /// Writes down why the chunk goes when its use ends.
  mutating func noteDeparture(_ slot: Slot, _ reason: FreeReason) { seats[slot.index].departure = reason }

  /// Takes over the reference that a claim took.
  func victim(in slot: Slot, _ reason: FreeReason) -> Victim {
    let seat = seats[slot.index]
    return Victim(chunk: seat.chunk!.takeRetainedValue(), slot: slot, lane: seat.lane, reason: reason)
  }

  var now: UInt64 { RecencyClock.latest(clock) }

  func use(of slot: Slot) -> ChunkUse {
    seats[slot.index].chunk!._withUnsafeGuaranteedRef {
      ChunkUse(
        stamp: $0.stamp.load(ordering: .relaxed), uses: $0.totalUses, cost: $0.costNow, number: $0.number)
    }
  }

  /// Whether some use of the chunk, of this product or of its newer one, ends by itself.
  func isUsedByScope(_ slot: Slot) -> Bool {
    seats[slot.index].chunk!._withUnsafeGuaranteedRef { $0.isUsedByScope($0.word.load(ordering: .acquiring)) }
  }

  mutating func claim(_ slot: Slot) -> Claim {
    let seat = seats[slot.index]
    let claim = seat.chunk!._withUnsafeGuaranteedRef { $0.claimOrPark(seat.lane) }
    guard case .claimed = claim else { return claim }
    if mc_try_retain(seat.chunk!.toOpaque()) { return .claimed }
    // Its deinit has begun and waits for our lock, or will: it frees the product itself, after the
    // subclass's own deinit body.
    seat.chunk!._withUnsafeGuaranteedRef { _ = $0.word.bitwiseOr(ChunkWord.ready, ordering: .acquiringAndReleasing) }
    if !seats[slot.index].isDying {
      seats[slot.index].isDying = true
      dying += 1
    }
    return .held
  }

  mutating func unclaim(_ slot: Slot) {
    let chunk = seats[slot.index].chunk!.takeRetainedValue()
    chunk.word.bitwiseOr(ChunkWord.ready, ordering: .acquiringAndReleasing)
    owed.append(chunk)
  }
}

/// A product that is being freed, with the reference that keeps its chunk alive meanwhile.
struct Victim: @unchecked Sendable {
  let chunk: MemChunk
  let slot: Slot
  let lane: Int
  let reason: FreeReason
}

extension MemChunk {
  /// Clears "ready" if nobody is using the product; else marks it, in the same step, so that the end of
  /// the use is reported.
  fileprivate final func claimOrPark(_ lane: Int) -> Claim {
    var now = word.load(ordering: .relaxed)
    while true {
      let users = ChunkWord.users(now, lane)
      let byScope = isUsedByScope(now, lane)
      let then =
        users == 0
        ? now & ~ChunkWord.ready
        : now & ~ChunkWord.parkedByScope | ChunkWord.parked | (byScope ? ChunkWord.parkedByScope : 0)
      let (exchanged, original) = word.compareExchange(
        expected: now, desired: then, successOrdering: .acquiringAndReleasing, failureOrdering: .acquiring)
      if exchanged { return users == 0 ? .claimed : byScope ? .inUse : .held }
      now = original
    }
  }
}
