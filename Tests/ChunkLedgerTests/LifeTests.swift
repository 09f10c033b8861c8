import ChunkLedger
import Testing

/// What happens to a slot outside of requests.
@Suite struct LifeTests {
  let books = Books(budget: 100)

  @Test("a retired chunk is counted, is no victim, and goes when its use ends")
  func retired() {
    let slot = books.add(60)
    books.owner.beginUse(of: slot, byToken: true)
    books.ledger.retire(slot)
    #expect(books.state(slot) == .retired)
    #expect(books.ledger.ready == 60)
    #expect(books.ask(60) == .refused)
    #expect(books.owner.claims == 0)
    #expect(books.ledger.claim(slot, owner: &books.owner) == nil)
    books.ledger.beginFreeing(slot)
    #expect(books.ledger.freeing == 60)
    books.ledger.finishFree(slot)
    #expect(books.ledger.counted == 0)
    #expect(books.broken == nil)
  }

  @Test("a chunk retired while parked is parked no more")
  func retiredWhileParked() {
    let slot = books.add(60)
    books.owner.beginUse(of: slot, byToken: false)
    #expect(books.ledger.claim(slot, owner: &books.owner) == nil)
    books.ledger.markDeparting(slot)
    books.ledger.retire(slot)
    #expect(books.ledger.parkedBytes == 0)
    #expect(books.ledger.parkedScopes == 0)
    #expect(books.ledger.departing == 0)
    #expect(books.broken == nil)
  }

  @Test("a failed generation leaves nothing reserved, and its pages are free")
  func abandoned() {
    let slot = books.place(RoomNeed(bytes: 60, group: .pool, arenaBytes: 60))
    books.ledger.markDeparting(slot)
    books.ledger.abandon(slot)
    #expect(books.ledger.reserved == 0)
    #expect(books.ledger.departing == 0)
    #expect(books.ledger.slotCount == 0)
    // Somebody may have written to them.
    #expect(books.ledger.arena.warmPages == 6)
    #expect(books.ledger.room == 100)
    #expect(books.broken == nil)
  }

  @Test("a departing chunk is listed until it goes, whichever way it goes")
  func departing() {
    let slots = books.add([10, 20, 30])
    for slot in slots { books.ledger.markDeparting(slot) }
    books.ledger.markDeparting(slots[0])
    #expect(books.ledger.departing == 3)
    #expect(books.ledger.departingSlots() == slots)
    #expect(books.ask(50) == .granted([slots[0]]))
    #expect(books.ledger.departingSlots() == [slots[1], slots[2]])
    #expect(books.complete(books.lastGrant!).count == 1)
    #expect(books.ledger.departing == 2)
    // Claims that are taken back change nothing about it.
    books.owner.beginUse(of: slots[2], byToken: true)
    #expect(books.ask(50) == .refused)
    #expect(books.owner.unclaims == 1)
    #expect(books.departs(slots[1]))
    #expect(books.ledger.departing == 2)
  }

  @Test("surplus above the keep limit goes in turn, what is in use is noticed and stays")
  func surplus() {
    let slots = books.add([20, 20, 20, 20])
    books.owner.beginUse(of: slots[0], byToken: false)
    books.owner.touch(slots[1])
    for slot in slots[2...] { books.owner.touch(slot) }
    #expect(!books.hasSurplus(above: 80))
    #expect(books.hasSurplus(above: 79))
    #expect(books.ledger.claimSurplus(above: 40, protectedSince: .max, owner: &books.owner) == [slots[1], slots[2]])
    #expect(books.isParked(slots[0]))
    // What is being freed already needs no second victim.
    #expect(books.ledger.claimSurplus(above: 40, protectedSince: .max, owner: &books.owner).isEmpty)
    #expect(books.ledger.claimSurplus(above: 0, protectedSince: .max, owner: &books.owner) == [slots[3]])
    #expect(books.ledger.ready == 20)
  }

  @Test("slots are given out again, and cost nothing while vacant")
  func slotsAgain() {
    for _ in 0..<100 {
      let slot = books.add(10)
      #expect(slot.index == 0)
      #expect(books.ledger.claim(slot, owner: &books.owner) == slot)
      books.ledger.finishFree(slot)
      #expect(books.ledger.slotCount == 0)
    }
  }

  @Test("the peak is the most that was counted when a step ended")
  func peak() {
    let slot = books.add(80)
    _ = books.giveBackPages()
    #expect(books.ledger.claim(slot, owner: &books.owner) == slot)
    books.ledger.finishFree(slot)
    books.add(30)
    _ = books.giveBackPages()
    #expect(books.ledger.peak == 80)
    books.ledger.resetPeak()
    #expect(books.ledger.peak == 30)
  }
}
