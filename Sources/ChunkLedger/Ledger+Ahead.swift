// A buffer needs pages that lie together. Where what is free lies scattered, fresh pages would do, but as many resident
// ones would have to be given back for them, and the system clears each fresh page: about a millisecond a megabyte.
extension Ledger {
  /// Nanoseconds that a byte of a fresh page takes: measured, on one machine. It decides between two costs, neither of them high.
  private static var clearingCost: UInt64 { 1 }

  /// Claims further victims, in turn, until the longest need of `request` fits among resident pages, if it can: they would
  /// be the next to go anyway. None where pages can simply be added, nor beyond a victim that holds none, nor if to
  /// generate the victims again could take longer than the fresh pages would.
  ///
  /// O(1) a victim beside the claim. What would fit is tried on the map itself.
  mutating func claimAhead<Owner: LedgerOwner & ~Copyable>(
    for request: RoomRequest, _ look: inout Look, _ owner: inout Owner
  ) {
    let pages = request.needs.reduce(0) { max($0, arena.pages(for: $1.arenaBytes)) }
    guard freesAhead, pages > 0, !request.isBestEffort, !arena.hasWarmRun(pages: pages) else { return }
    // No run is long enough now, so one that is must come from what is tried.
    var trial = FreeTrial()
    var longest = 0
    // Beside all that is free and resident then, is there room for fresh pages?
    var counted = ready + reserved + freeing + pledged + arena.warmBytes + request.bytes
    for slot in look.claimed {
      let entry = entries[slot.index]
      counted -= entry.size - entry.pages.count * arena.pageSize
      longest = max(longest, tryFree(entry.pages, &trial))
    }
    let isTight = counted > budget
    let certain = look.claimed.count
    var price = UInt64(pages * arena.pageSize) * Self.clearingCost
    while isTight, longest < pages, let slot = claimNext(&look, in: nil, &owner), entries[slot.index].pages.count > 0 {
      let cost = owner.use(of: slot).cost
      guard cost <= price else { break }
      price -= cost
      longest = max(longest, tryFree(entries[slot.index].pages, &trial))
    }
    arena.end(trial)
    guard longest < pages else { return }
    while look.claimed.count > certain {
      takeBack(look.claimed.removeLast(), key: look.keys.removeLast(), &owner)
    }
  }

  private mutating func tryFree(_ pages: PageRun, _ trial: inout FreeTrial) -> Int {
    pages.count > 0 ? arena.tryFree(pages, &trial) : 0
  }
}
