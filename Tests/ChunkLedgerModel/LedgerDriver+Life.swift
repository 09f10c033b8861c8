import ChunkLedger

// Uses and their ends, generations and frees.
extension LedgerDriver {
  mutating func hit() {
    guard let slot = random.pick(model.slots { $0.state == .ready }) else { return }
    owner.touch(Slot(slot))
    model.owner.touch(Slot(slot))
  }

  /// The next claim of some chunk meets a hit.
  mutating func race() {
    guard let slot = random.pick(model.slots { $0.state == .ready }) else { return }
    owner.raceNextClaim(of: Slot(slot))
    model.owner.raceNextClaim(of: Slot(slot))
  }

  mutating func beginUse() {
    guard let slot = random.pick(model.slots { $0.state == .ready }) else { return }
    let byToken = random.percent(40)
    owner.beginUse(of: Slot(slot), byToken: byToken)
    model.owner.beginUse(of: Slot(slot), byToken: byToken)
  }

  mutating func endUse() {
    var used: [Int] = []
    for slot in model.chunks.indices where model.owner.seats[slot].isInUse { used.append(slot) }
    guard let slot = random.pick(used) else { return }
    let seat = model.owner.seats[slot]
    let byToken = seat.scopes == 0 || seat.tokens > 0 && random.percent(50)
    owner.endUse(of: Slot(slot), byToken: byToken)
    model.owner.endUse(of: Slot(slot), byToken: byToken)
    noteEnd(of: slot)
  }

  private mutating func noteEnd(of slot: Int) {
    let seat = model.owner.seats[slot]
    if model.chunks[slot].state == .retired {
      if !seat.isInUse { beginFreeing(slot) }
    } else if seat.isParked {
      if seat.isInUse { return park(slot) }
      setParked(slot, false)
      ledger.unpark(Slot(slot), use: owner.use(of: Slot(slot)))
      model.unpark(slot)
      if model.chunks[slot].departs { claimUnprotected(slot) }
    }
  }

  /// Says by what a chunk in use is held.
  private mutating func park(_ slot: Int) {
    let byTokens = model.owner.seats[slot].scopes == 0
    setParked(slot, true)
    ledger.park(Slot(slot), byTokens: byTokens)
    model.park(slot, byTokens: byTokens)
  }

  private mutating func setParked(_ slot: Int, _ isParked: Bool) {
    owner.setParked(Slot(slot), isParked)
    model.owner.setParked(Slot(slot), isParked)
  }

  mutating func claimUnprotected(_ slot: Int) {
    guard owner.seats[slot].stamp <= protectedSince else { return }
    let claimed = ledger.claim(Slot(slot), owner: &owner)
    expect((claimed != nil) == model.claim(slot), "one side could claim a chunk, the other could not")
  }

  /// A chunk is discarded: it goes now, or when its use ends.
  mutating func depart() {
    guard let slot = random.pick(model.slots { $0.state == .ready }) else { return }
    ledger.markDeparting(Slot(slot))
    model.chunks[slot].departs = true
    claimUnprotected(slot)
  }

  /// A chunk is out of date.
  mutating func invalidate() {
    guard let slot = random.pick(model.slots { $0.state == .ready }) else { return }
    setParked(slot, false)
    guard model.owner.seats[slot].isInUse else { return beginFreeing(slot) }
    ledger.retire(Slot(slot))
    model.retire(slot)
  }

  /// The last reference to a chunk goes.
  mutating func free() {
    var unused: [Int] = []
    for slot in model.slots(where: { $0.state == .ready }) where !model.owner.seats[slot].isInUse {
      unused.append(slot)
    }
    if let slot = random.pick(unused) { beginFreeing(slot) }
  }

  private mutating func beginFreeing(_ slot: Int) {
    ledger.beginFreeing(Slot(slot))
    model.beginFreeing(slot)
  }
}

extension LedgerDriver {
  mutating func settle() {
    let growing = flights.compactMap { $0.growing?.index }
    guard let slot = random.pick(model.slots { $0.state == .generating }), !growing.contains(slot) else { return }
    let chunk = model.chunks[slot]
    var size = chunk.size
    if chunk.pages.count > 0 {
      size = chunk.pages.count * Self.pageSize
    } else if random.percent(25) {
      size = random.below(size + 1)
    }
    owner.touch(Slot(slot))
    model.owner.touch(Slot(slot))
    ledger.settle(Slot(slot), size: size, use: owner.use(of: Slot(slot)))
    model.settle(slot, size: size)
    // Invalidated on the way: nobody will see it.
    if random.percent(4) { beginFreeing(slot) }
  }

  mutating func abandon() {
    let growing = flights.compactMap { $0.growing?.index }
    guard let slot = random.pick(model.slots { $0.state == .generating }), !growing.contains(slot) else { return }
    ledger.abandon(Slot(slot))
    expect(model.vacate(slot), "an abandoned chunk had pages that were not in use")
  }

  /// Each `free()` that belongs to no grant returns, or takes longer.
  mutating func finishFree() {
    var free = model.slots { $0.state == .freeing }
    for promise in model.promises { free.removeAll { promise.victims.contains($0) } }
    for slot in free where random.percent(60) { finishFree(Slot(slot)) }
  }

  /// Some of the bytes come late, where they are not pages of the arena.
  mutating func finishFree(_ slot: Slot) {
    let chunk = model.chunks[slot.index]
    let late = chunk.pages.count == 0 && random.percent(15) ? random.below(chunk.size + 1) : 0
    ledger.finishFree(slot, late: late)
    expect(model.vacate(slot.index, late: late), "a freed chunk had pages that were not in use")
    if late > 0 { tally.lateFrees += 1 }
  }

  mutating func finishLate() {
    guard !model.late.isEmpty else { return }
    let index = random.below(model.late.count)
    let part = model.late[index]
    ledger.finishLate(part.bytes, group: GroupIndex(part.group))
    model.finishLate(index)
  }
}
