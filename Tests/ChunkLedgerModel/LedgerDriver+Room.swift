import ChunkLedger

// Requests, and what becomes of their grants.
extension LedgerDriver {
  mutating func request() {
    // Whoever was refused often asks again, which is what the memory of refusals is for.
    if var again = lastRefused, random.percent(40) {
      lastRefused = nil
      again.protectedSince = protectedSince
      again.isBestEffort = random.percent(20)
      if ask(again, growing: nil) { complete(flights.count - 1) }
      return
    }
    var needs = Few.one(randomNeed())
    while needs.count < 3, random.percent(20) { needs.append(randomNeed()) }
    var request = RoomRequest(
      needs, protectedSince: protectedSince, thread: UInt(random.from(1, to: 3)), mayFreeLate: random.percent(70),
      isBestEffort: random.percent(10))
    if request.isBestEffort {
      request.protectedSince = min(protectedSince, owner.now - min(owner.now, UInt64(random.below(40))))
    }
    if ask(request, growing: nil), random.percent(70) { complete(flights.count - 1) }
  }

  /// A product comes out larger than was reserved.
  mutating func grow() {
    let busy = flights.compactMap { $0.growing?.index }
    guard let slot = random.pick(model.slots { $0.state == .generating }), !busy.contains(slot) else { return }
    let need = RoomNeed(bytes: random.from(1, to: 120), group: GroupIndex(model.chunks[slot].group))
    let request = RoomRequest(.one(need), protectedSince: protectedSince, thread: 1, mayFreeLate: false)
    if ask(request, growing: Slot(slot)), random.percent(70) { complete(flights.count - 1) }
  }

  mutating func completeFlight() {
    if !flights.isEmpty { complete(random.below(flights.count)) }
  }

  /// Asks both sides. True when they agree on a grant.
  private mutating func ask(_ request: RoomRequest, growing: Slot?) -> Bool {
    let claims = owner.claims
    let unclaims = owner.unclaims
    let answer = ledger.requestRoom(for: request, owner: &owner)
    let wanted = model.ask(request)
    switch (answer, wanted) {
    case (.granted(let grant), .granted(let victims)):
      compare(grant.victims, victims)
      flights.append(Flight(grant: grant, growing: growing))
      tally.grants += 1
      tally.victims += victims.count
      return true
    case (.refused, .refused):
      lastRefused = request
      tally.refusals += 1
      if claims == owner.claims { tally.refusalsWithoutLook += 1 }
      if unclaims != owner.unclaims { tally.takenBack += 1 }
    case (.tooLarge(let limit, let group), .tooLarge(let wantedLimit, let wantedGroup)):
      expect(limit == wantedLimit && group?.index == wantedGroup, "what is too large is too large for different limits")
      tally.tooLarge += 1
    case (_, .rememberedWrongly): expect(false, "a refusal is remembered that is none any more")
    default: expect(false, "one side grants what the other does not")
    }
    return false
  }

  /// The victims of a grant have been freed, or most of them: takes the room, or gives up.
  private mutating func complete(_ index: Int) {
    let flight = flights.remove(at: index)
    for victim in flight.grant.victims {
      let group = model.chunks[victim.index].group
      // Only its own thread frees it, some time later.
      if model.groups[group].boundTo > 1, random.percent(50) { continue }
      finishFree(victim)
    }
    ledger.release(flight.grant)
    model.release(index)
    let fits = ledger.canPlace(flight.grant)
    expect(fits == model.canPlace(flight.grant.needs), "one side can place a grant, the other cannot")
    guard fits else {
      tally.notPlaced += 1
      return
    }
    if let slot = flight.growing {
      ledger.extend(slot, by: flight.grant.needs[0].bytes)
      model.extend(slot.index, by: flight.grant.needs[0].bytes)
      tally.extensions += 1
    } else {
      for need in flight.grant.needs { place(need) }
    }
  }

  private mutating func place(_ need: RoomNeed) {
    var slot = ledger.place(need)
    if slot == nil {
      let pages = ledger.arena.pages(for: need.arenaBytes)
      expect(model.board.longestHole < pages, "a hole was long enough and was not found")
      let start = model.board.pages.isEmpty ? 0 : model.board.pages.count + random.from(1, to: 3)
      let count = max(pages, random.from(10, to: 150))
      ledger.arena.addCapacity(pages: count, at: start)
      model.board.addPiece(pages: count, at: start)
      slot = ledger.place(need)
    }
    guard let slot else { return expect(false, "new address space did not help") }
    owner.seat(in: slot)
    expect(model.place(need, in: slot.index, ledger.pages(of: slot)), "a slot or its pages were taken already")
    if need.arenaBytes > 0 { tally.placedInArena += 1 }
  }

  private mutating func randomNeed() -> RoomNeed {
    let live = model.groups.indices.filter { model.groups[$0].isLive }
    let group = GroupIndex(live[random.below(live.count)])
    if random.percent(40) {
      let bytes = random.from(1, to: 14) * Self.pageSize
      let scratch = random.percent(20) ? random.below(60) : 0
      return RoomNeed(bytes: bytes + scratch, group: group, arenaBytes: bytes)
    }
    if random.percent(5) { return RoomNeed(bytes: 0, group: group) }
    // Now and then more than most limits.
    return RoomNeed(bytes: random.from(1, to: random.percent(4) ? 2_500 : 260), group: group)
  }
}
