// A buffer needs pages that lie together. Where what is free lies scattered, fresh pages would do, but as many resident
// ones would have to be given back for them, and the system clears each fresh page: about a millisecond a megabyte.
extension Ledger {
  /// Nanoseconds that a byte of a fresh page takes: measured, on one machine. It decides between two costs, neither of them high.
  private static var clearingCost: UInt64 { 1 }

  /// Claims further victims, in turn, until the longest need of `request` fits among resident pages, if it can: they would
  /// be the next to go anyway. None where pages can simply be added, nor beyond a victim that holds none, nor if to
  /// generate the victims again could take longer than the fresh pages would.
  ///
  /// O(1) a victim beside the claim. What fits is tried on the map itself, and taken back.
  mutating func claimAhead<Owner: LedgerOwner & ~Copyable>(
    for request: RoomRequest, _ look: inout Look, _ owner: inout Owner
  ) {
    let pages = request.needs.reduce(0) { max($0, arena.pages(for: $1.arenaBytes)) }
    guard freesAhead, pages > 0, !request.isBestEffort, !arena.hasWarmRun(pages: pages) else { return }
    var tried: [(run: PageRun, whole: PageRun)] = []
    for slot in look.claimed { tryFree(slot, &tried) }
    // Beside all that is free and resident then, is there room for fresh pages?
    let fixed = ready + reserved + freeing - look.claimed.reduce(0) { $0 + entries[$1.index].size }
    let isTight = fixed + pledged + arena.warmBytes + request.bytes > budget
    let certain = look.claimed.count
    var fits = arena.hasWarmRun(pages: pages)
    var price = UInt64(pages * arena.pageSize) * Self.clearingCost
    while isTight, !fits, let slot = claimNext(&look, in: nil, &owner), entries[slot.index].pages.count > 0 {
      let cost = owner.use(of: slot).cost
      guard cost <= price else { break }
      price -= cost
      tryFree(slot, &tried)
      fits = arena.hasWarmRun(pages: pages)
    }
    for (run, whole) in tried.reversed() { arena.unfree(run, in: whole) }
    guard !fits else { return }
    while look.claimed.count > certain {
      takeBack(look.claimed.removeLast(), key: look.keys.removeLast(), &owner)
    }
  }

  private mutating func tryFree(_ slot: Slot, _ tried: inout [(run: PageRun, whole: PageRun)]) {
    let run = entries[slot.index].pages
    if run.count > 0 { tried.append((run, arena.free(run))) }
  }
}
