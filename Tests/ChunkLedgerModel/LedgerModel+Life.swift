import ChunkLedger

// What happens to one slot, and to the limits.
extension LedgerModel {
  /// A need takes its room in `slot`. False when the slot or one of the pages is not free.
  mutating func place(_ need: RoomNeed, in slot: Int, _ pages: PageRun) -> Bool {
    while chunks.count <= slot { chunks.append(Chunk()) }
    guard chunks[slot].state == .vacant else { return false }
    chunks[slot] = Chunk(state: .generating, size: need.bytes, group: need.group.index, pages: pages)
    owner.seat(in: Slot(slot))
    guard pages.count == (need.arenaBytes + pageSize - 1) / pageSize else { return false }
    return board.take(pages)
  }

  mutating func extend(_ slot: Int, by bytes: Int) { chunks[slot].size += bytes }

  mutating func settle(_ slot: Int, size: Int) {
    chunks[slot].size = size
    chunks[slot].state = .ready
    forgetRefusals()
  }

  mutating func retire(_ slot: Int) {
    chunks[slot].state = .retired
    chunks[slot].parking = .none
    chunks[slot].departs = false
  }

  mutating func beginFreeing(_ slot: Int) {
    chunks[slot].state = .freeing
    chunks[slot].parking = .none
  }

  /// The end of a generation that made nothing, or of a free. False when a page was not in use.
  mutating func vacate(_ slot: Int, late bytes: Int = 0) -> Bool {
    let chunk = chunks[slot]
    chunks[slot] = Chunk()
    if bytes > 0 { late.append(Late(bytes: bytes, group: chunk.group)) }
    forgetRefusals()
    return board.put(chunk.pages)
  }

  mutating func finishLate(_ index: Int) {
    late.remove(at: index)
    forgetRefusals()
  }

  mutating func park(_ slot: Int, byTokens: Bool) {
    chunks[slot].parking = byTokens ? .byTokens : .byScope
    forgetRefusals()
  }

  mutating func unpark(_ slot: Int) {
    chunks[slot].parking = .none
    forgetRefusals()
  }

  mutating func release(_ index: Int) {
    promises.remove(at: index)
    forgetRefusals()
  }

  /// Pages that must go back to the system, so that what is resident fits beside what is counted.
  var pagesToGiveBack: Int {
    let spare = warmBytes - pledged
    guard spare > 0 else { return 0 }
    let excess = counted - budget
    guard excess > 0 else { return 0 }
    return min(board.warmPages, (min(excess, spare) + pageSize - 1) / pageSize)
  }
}

extension LedgerModel {
  /// Takes unused chunks until at most `target` bytes are ready, no group is over its limit and the
  /// count is within the budget.
  mutating func claimSurplus(above target: Int, protectedSince: UInt64) -> [Int] {
    var walk = Walk(protectedSince: protectedSince)
    var victims: [Int] = []
    for group in groups.indices {
      while isOverLimit(group), let victim = takeNext(&walk, in: group) { victims.append(victim) }
    }
    while isOver(target), let victim = takeNext(&walk, in: nil) { victims.append(victim) }
    return victims
  }

  func hasSurplus(above target: Int) -> Bool {
    for group in groups.indices where isOverLimit(group) { return true }
    return isOver(target)
  }

  /// Takes unused chunks that were last used at `stamp` or before.
  mutating func claimUnused(since stamp: UInt64, protectedSince: UInt64) -> [Int] {
    var walk = Walk(protectedSince: min(stamp, protectedSince))
    var victims: [Int] = []
    while let victim = takeNext(&walk, in: nil) { victims.append(victim) }
    return victims
  }

  /// Takes one ready chunk out of turn, or parks it.
  mutating func claim(_ slot: Int) -> Bool {
    guard chunks[slot].state == .ready else { return false }
    switch owner.claim(Slot(slot)) {
    case .inUse: park(slot, byTokens: false)
    case .held: park(slot, byTokens: true)
    case .claimed:
      beginFreeing(slot)
      return true
    }
    return false
  }

  /// What is being freed is on its way out and counts no more.
  private func isOverLimit(_ group: Int) -> Bool {
    groups[group].limit != .max && counted(in: group) - totals(of: group).freeing > groups[group].limit
  }

  private func isOver(_ target: Int) -> Bool { ready > target || ready + reserved + pledged > budget }
}
