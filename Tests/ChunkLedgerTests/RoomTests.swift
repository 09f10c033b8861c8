import ChunkLedger
import Testing

/// Who must go when room is needed, and what a refusal costs.
@Suite struct RoomTests {
  @Test("the least recently used go first, exactly, also when hits came after they entered the line")
  func exactOrder() {
    let books = Books(budget: 5_000)
    let slots = books.add(Array(repeating: 10, count: 500))
    // Every third is used again, the last first.
    let again = slots.indices.filter { $0 % 3 == 0 }.reversed().map { slots[$0] }
    for slot in again { books.owner.touch(slot) }
    let order = slots.indices.filter { $0 % 3 != 0 }.map { slots[$0] } + again
    #expect(books.ask(3_400) == .granted(Array(order[..<340])))
    #expect(books.ask(1_600) == .granted(Array(order[340...])))
    #expect(books.broken == nil)
  }

  @Test("no more is freed than needed")
  func noMoreThanNeeded() {
    let books = Books(budget: 100)
    let slots = books.add([30, 30, 30])
    #expect(books.ask(10) == .granted([]))
    #expect(books.ask(30) == .granted([slots[0]]))
    #expect(books.ledger.counted == 100)
  }

  @Test("nothing is freed when freeing could not make enough room")
  func nothingIsFreedInVain() {
    let books = Books(budget: 100)
    let slots = books.add([30, 30, 30])
    books.owner.beginUse(of: slots[1], byToken: true)
    books.owner.touch(slots[2])
    #expect(books.ask(80) == .refused)
    // It looked, so it claimed, and took every claim back.
    #expect(books.owner.unclaims == 2)
    #expect(books.ledger.slots(in: .ready) == slots)
    #expect(books.ledger.freeing == 0)
    #expect(books.ledger.ready == 90)
    #expect(books.owner.seats.allSatisfy { !$0.isClaimed })
    #expect(books.broken == nil)
    // Their turn is what it was.
    #expect(books.ask(60) == .granted([slots[0], slots[2]]))
  }

  @Test("what can never fit is told from what does not fit now")
  func tooLarge() {
    let books = Books(budget: 100)
    let group = books.ledger.addGroup(limit: 40, weight: 1)
    #expect(books.ask(101) == .tooLarge(100, nil))
    #expect(books.ask(41, group: group) == .tooLarge(40, group))
    let several: Few = [
      RoomNeed(bytes: 60, group: .pool), RoomNeed(bytes: 30, group: group), RoomNeed(bytes: 11, group: .pool),
    ]
    #expect(books.ask(RoomRequest(several)) == .tooLarge(100, nil))
    let share: Few = [RoomNeed(bytes: 30, group: group), RoomNeed(bytes: 11, group: group)]
    #expect(books.ask(RoomRequest(share)) == .tooLarge(40, group))
  }

  @Test("a stamp that changes between look and claim saves the chunk")
  func secondLook() {
    let books = Books(budget: 90)
    let slots = books.add([30, 30, 30])
    books.owner.raceNextClaim(of: slots[0])
    #expect(books.ask(30) == .granted([slots[1]]))
    #expect(books.state(slots[0]) == .ready)
    #expect(!books.owner.seats[slots[0].index].isClaimed)
    // It was used last, so it goes last.
    #expect(books.ask(60) == .granted([slots[2], slots[0]]))
    #expect(books.broken == nil)
  }

  @Test("chunks of no bytes are never victims, only claimed one by one")
  func zeroSized() {
    let books = Books(budget: 50)
    let empty = books.add(0)
    let full = books.add(50)
    #expect(books.ask(50) == .granted([full]))
    #expect(books.ledger.claimSurplus(above: 0, protectedSince: .max, owner: &books.owner).isEmpty)
    #expect(books.ledger.claimUnused(since: .max, protectedSince: .max, owner: &books.owner).isEmpty)
    #expect(books.state(empty) == .ready)
    #expect(books.ledger.claim(empty, owner: &books.owner) == empty)
    books.ledger.finishFree(empty)
    #expect(books.broken == nil)
  }

  @Test("a chunk found in use leaves the line until its use ends")
  func parked() {
    let books = Books(budget: 60)
    let slots = books.add([30, 30])
    books.owner.beginUse(of: slots[0], byToken: false)
    books.owner.touch(slots[1])
    #expect(books.ask(30) == .granted([slots[1]]))
    #expect(books.isParked(slots[0]))
    #expect(books.ledger.parkedScopes == 1)
    #expect(books.ledger.parkedBytes == 30)
    books.owner.resetCounts()
    #expect(books.ask(30) == .refused)
    #expect(books.owner.claims == 0)
    books.owner.endUse(of: slots[0], byToken: false)
    books.ledger.unpark(slots[0], use: books.owner.use(of: slots[0]))
    #expect(books.ask(30) == .granted([slots[0]]))
    #expect(books.ledger.parkedBytes == 0)
  }

  @Test("parked again by tokens only, it no longer counts as something that ends by itself")
  func parkedByTokens() {
    let books = Books(budget: 30)
    let slot = books.add(30)
    books.owner.beginUse(of: slot, byToken: false)
    books.owner.beginUse(of: slot, byToken: true)
    #expect(books.ledger.claim(slot, owner: &books.owner) == nil)
    #expect(books.ledger.parkedScopes == 1)
    books.owner.endUse(of: slot, byToken: false)
    books.ledger.park(slot, byTokens: true)
    #expect(books.ledger.parkedScopes == 0)
    #expect(books.ledger.parkedBytes == 30)
    #expect(books.broken == nil)
  }
}
