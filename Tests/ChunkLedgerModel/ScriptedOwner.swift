package import ChunkLedger

/// An owner of chunks that are nothing but numbers: the stamp, how often used, by how many, per slot.
///
/// It counts what the ledger asks of it, and can play a hit that comes between the ledger's look and
/// its claim: with threads that happens once in many thousand evictions, here when the script says so.
package struct ScriptedOwner: LedgerOwner {
  /// What is known of the chunk in one slot.
  package struct Seat: Equatable {
    package var stamp: UInt64 = 0
    package var uses: UInt64 = 0
    /// Users that end by themselves, and tokens.
    package var scopes = 0
    package var tokens = 0
    /// Nobody can begin to use it.
    package var isClaimed = false
    /// The end of its last use is to be reported.
    package var isParked = false
    /// It is used once more when it is next claimed.
    package var isRacing = false

    package var isInUse: Bool { scopes + tokens > 0 }
  }

  /// The last stamp that was given.
  package private(set) var now: UInt64 = 0
  package private(set) var claims = 0
  package private(set) var unclaims = 0
  package private(set) var seats: [Seat] = []

  package init() {}

  package func use(of slot: Slot) -> ChunkUse {
    ChunkUse(stamp: seats[slot.index].stamp, uses: seats[slot.index].uses)
  }

  package mutating func claim(_ slot: Slot) -> Claim {
    claims += 1
    if seats[slot.index].isRacing {
      seats[slot.index].isRacing = false
      touch(slot)
    }
    guard !seats[slot.index].isInUse else {
      seats[slot.index].isParked = true
      return seats[slot.index].scopes > 0 ? .inUse : .held
    }
    seats[slot.index].isClaimed = true
    return .claimed
  }

  package mutating func unclaim(_ slot: Slot) {
    unclaims += 1
    seats[slot.index].isClaimed = false
  }
}

extension ScriptedOwner {
  /// A new chunk sits down; it is used for the first time when its product is there.
  package mutating func seat(in slot: Slot) {
    while seats.count <= slot.index { seats.append(Seat()) }
    seats[slot.index] = Seat()
  }

  /// A hit.
  package mutating func touch(_ slot: Slot) {
    now += 1
    seats[slot.index].stamp = now
    seats[slot.index].uses += 1
  }

  package mutating func beginUse(of slot: Slot, byToken: Bool) {
    touch(slot)
    if byToken { seats[slot.index].tokens += 1 } else { seats[slot.index].scopes += 1 }
  }

  package mutating func endUse(of slot: Slot, byToken: Bool) {
    if byToken { seats[slot.index].tokens -= 1 } else { seats[slot.index].scopes -= 1 }
  }

  package mutating func setParked(_ slot: Slot, _ isParked: Bool) { seats[slot.index].isParked = isParked }

  /// Plays a hit between the look at a chunk and the next claim of it.
  package mutating func raceNextClaim(of slot: Slot) { seats[slot.index].isRacing = true }

  /// Starts counting anew.
  package mutating func resetCounts() {
    claims = 0
    unclaims = 0
  }
}
