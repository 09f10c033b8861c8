import ChunkLedger

// Everything that can be seen of the ledger, beside what the model says.
extension LedgerDriver {
  mutating func compare() {
    compareTotals()
    compareGroups()
    compareSlots()
    expect(owner.claims == model.owner.claims, "claims were made that were not needed, or not made")
    expect(owner.now == model.owner.now, "the owners' clocks differ")
  }

  private mutating func compareTotals() {
    let (ready, reserved, freeing, pledged) = (model.ready, model.reserved, model.freeing, model.pledged)
    expect(ledger.budget == model.budget && ledger.keepLimit == model.keepLimit, "the limits differ")
    expect(ledger.ready == ready, "the ready bytes differ")
    expect(ledger.reserved == reserved, "the reserved bytes differ")
    expect(ledger.freeing == freeing, "the bytes being freed differ")
    expect(ledger.pledged == pledged, "the pledged bytes differ")
    let room = model.budget - ready - reserved - freeing - pledged
    expect(ledger.counted == counted, "what is counted differs")
    expect(ledger.room == room && ledger.overdraft == max(0, -room), "the room differs")
    expect(ledger.peak == model.peak, "the peak differs")
    expect(ledger.arena.warmPages == model.board.warmPages, "the warm pages differ")
    expect(ledger.arena.usedPages == model.board.usedPages, "the used pages differ")
    expect(ledger.slotCount == model.slots { $0.state != .vacant }.count, "the number of slots differs")
    expect(ledger.parkedScopes == model.slots { $0.parking == .byScope }.count, "the chunks parked by scopes differ")
    expect(ledger.parkedBytes == model.bytes { $0.parking != .none }, "the parked bytes differ")
    expect(ledger.departing == model.slots { $0.departs }.count, "the number of departing chunks differs")
  }

  private mutating func compareGroups() {
    for index in model.groups.indices where model.groups[index].isLive {
      let group = GroupIndex(index)
      let totals = ledger.totals(of: group)
      let wanted = model.totals(of: index)
      expect(totals.ready == wanted.ready, "a group's ready bytes differ")
      expect(totals.reserved == wanted.reserved, "a group's reserved bytes differ")
      expect(totals.freeing == wanted.freeing, "a group's bytes being freed differ")
      expect(ledger.limit(of: group) == model.groups[index].limit, "a group's limit differs")
      expect(ledger.weight(of: group) == model.groups[index].weight, "a group's weight differs")
    }
  }

  private mutating func compareSlots() {
    for index in model.chunks.indices {
      let slot = Slot(index)
      let chunk = model.chunks[index]
      expect(ledger.state(of: slot) == chunk.state, "a slot's state differs")
      expect(ledger.size(of: slot) == chunk.size, "a slot's size differs")
      expect(ledger.group(of: slot).index == chunk.group, "a slot's group differs")
      expect(ledger.departs(slot) == chunk.departs, "a slot departs on one side only")
      expect(ledger.isParked(slot) == (chunk.parking != .none), "a slot is parked on one side only")
      if chunk.state != .vacant { expect(ledger.pages(of: slot) == chunk.pages, "a slot's pages differ") }
      expect(owner.seats[index] == model.owner.seats[index], "the owners were asked for different things")
      if chunk.state == .ready {
        expect(owner.seats[index].isParked == (chunk.parking != .none), "a parked chunk does not say so")
        expect(!owner.seats[index].isClaimed, "a ready chunk is still claimed")
      }
    }
  }

  /// Compares what both sides chose.
  mutating func compare(_ victims: [Slot], _ wanted: [Int]) {
    expect(victims.count == wanted.count, "the number of victims differs")
    for (victim, slot) in zip(victims, wanted) { expect(victim.index == slot, "a victim differs, or its turn") }
  }
}
