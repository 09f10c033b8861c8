import ChunkLedger
import Testing

/// From the promise of room to the product: `counted <= budget` at every step.
@Suite struct GrantTests {
  @Test("plain bytes that take the room of a buffer wait for its pages to be given back")
  func pagesAreGivenBack() {
    let books = Books(budget: 100)
    let buffer = books.add(100, inArena: true)
    #expect(books.ask(75) == .granted([buffer]))
    let grant = books.lastGrant!
    #expect(books.ledger.counted == 100)
    let slots = books.complete(grant)
    // In the same step, before anybody sees it: of ten warm pages two fit beside 75 bytes.
    #expect(books.giveBackPages() == 8)
    #expect(books.ledger.counted == 95)
    #expect(books.ledger.arena.warmBytes == 20)
    books.settle(slots[0])
    #expect(books.giveBackPages() == 0)
    #expect(books.ledger.peak <= 100)
    #expect(books.broken == nil)
  }

  @Test("a promise to a buffer lies on pages that are free and warm: the two are not added up")
  func pledgeOverlapsWarmPages() {
    let books = Books(budget: 100)
    let buffer = books.add(60, inArena: true)
    books.ledger.beginFreeing(buffer)
    books.ledger.finishFree(buffer)
    #expect(books.ledger.counted == 60)
    #expect(books.ledger.room == 100)
    #expect(books.ask(RoomRequest([RoomNeed(bytes: 80, group: .pool, arenaBytes: 80)])) == .granted([]))
    #expect(books.ledger.pledged == 80)
    #expect(books.ledger.counted == 80)
    #expect(books.ledger.room == 20)
    #expect(books.giveBackPages() == 0)
    // The rest can be promised to others without a page being given back from under the pledge.
    let grant = books.lastGrant!
    #expect(books.ask(20) == .granted([]))
    #expect(books.ledger.counted == 100)
    #expect(books.giveBackPages() == 0)
    let slots = books.complete(grant)
    #expect(books.giveBackPages() == 0)
    #expect(books.ledger.counted == 100)
    #expect(books.ledger.pages(of: slots[0]).count == 8)
    #expect(books.ledger.arena.warmPages == 0)
  }

  @Test("the room of victims is nobody else's while they are freed")
  func victimsRoomIsTaken() {
    let books = Books(budget: 100)
    let slots = books.add([60, 40])
    #expect(books.ask(50) == .granted([slots[0]]))
    #expect(books.ledger.room == 0)
    #expect(books.ask(10) == .granted([slots[1]]))
    #expect(books.ask(1) == .refused)
  }

  @Test("what victims do not bring is held back from others")
  func heldBack() {
    let books = Books(budget: 100)
    let slot = books.add(60)
    #expect(books.ask(90) == .granted([slot]))
    let grant = books.lastGrant!
    #expect(books.ledger.reserved == 30)
    #expect(books.ledger.freeing == 60)
    #expect(books.ledger.room == 10)
    #expect(books.ask(10) == .granted([]))
    #expect(books.ask(1) == .refused)
    #expect(books.complete(grant).count == 1)
    #expect(books.ledger.counted == 100)
  }

  @Test("a grant that is given up leaves nothing")
  func givenUp() {
    let books = Books(budget: 100)
    let group = books.ledger.addGroup(limit: 90, weight: 1)
    let slot = books.add(60, group: group)
    let needs: Few = [RoomNeed(bytes: 50, group: group, arenaBytes: 50), RoomNeed(bytes: 30, group: .pool)]
    #expect(books.ask(RoomRequest(needs)) == .granted([slot]))
    for victim in books.lastGrant!.victims { books.ledger.finishFree(victim) }
    books.ledger.release(books.lastGrant!)
    #expect(books.ledger.counted == 0)
    #expect(books.ledger.pledged == 0)
    #expect(books.ledger.totals(of: group) == (0, 0, 0))
    #expect(books.ledger.slotCount == 0)
    books.ledger.removeGroup(group)
    #expect(books.broken == nil)
  }

  @Test("a victim whose bytes come late leaves no place until they are back")
  func lateVictim() {
    let books = Books(budget: 100)
    let slot = books.add(100)
    #expect(books.ask(80) == .granted([slot]))
    let grant = books.lastGrant!
    books.ledger.finishFree(slot, late: 70)
    books.ledger.release(grant)
    #expect(!books.canPlace(grant))
    #expect(books.ledger.counted == 70)
    #expect(books.ask(80) == .refused)
    books.ledger.finishLate(50, group: .pool)
    #expect(books.ask(80) == .granted([]))
    books.ledger.finishLate(20, group: .pool)
    #expect(books.ledger.freeing == 0)
  }

  @Test("a budget lowered under a grant in flight leaves no place, and says what stands above it")
  func loweredBudget() {
    let books = Books(budget: 100)
    #expect(books.ask(80) == .granted([]))
    books.ledger.setBudget(50)
    #expect(books.ledger.overdraft == 30)
    books.ledger.release(books.lastGrant!)
    #expect(!books.canPlace(books.lastGrant!))
    #expect(books.ledger.overdraft == 0)
  }

  @Test("above a lowered budget, a grant frees what stands above it too")
  func overdraftIsCovered() {
    let books = Books(budget: 100)
    let slots = books.add([25, 25, 25, 25])
    books.ledger.setBudget(60)
    #expect(books.ledger.overdraft == 40)
    #expect(books.ask(10) == .granted([slots[0], slots[1]]))
    #expect(books.complete(books.lastGrant!).count == 1)
    #expect(books.ledger.counted == 60)
  }

  @Test("several at once: all or none, counted together")
  func several() {
    let books = Books(budget: 100)
    let slots = books.add([30, 30, 30])
    let group = books.ledger.addGroup(limit: 50, weight: 1)
    let needs: Few = [
      RoomNeed(bytes: 20, group: group, arenaBytes: 20), RoomNeed(bytes: 30, group: .pool),
      RoomNeed(bytes: 15, group: group),
    ]
    #expect(books.ask(RoomRequest(needs)) == .granted([slots[0], slots[1]]))
    let placed = books.complete(books.lastGrant!)
    #expect(placed.map { books.ledger.size(of: $0) } == [20, 30, 15])
    #expect(books.ledger.totals(of: group) == (0, 35, 0))
    #expect(books.ledger.counted == 95)
  }

  @Test("a working peak is settled to the size; more than was reserved is added first")
  func peakAndExtension() {
    let books = Books(budget: 100)
    let small = books.place(RoomNeed(bytes: 60, group: .pool))
    books.settle(small, size: 20)
    #expect(books.ledger.reserved == 0)
    #expect(books.ledger.ready == 20)
    let grown = books.place(RoomNeed(bytes: 30, group: .pool))
    #expect(books.ask(70) == .granted([small]))
    for victim in books.lastGrant!.victims { books.ledger.finishFree(victim) }
    books.ledger.release(books.lastGrant!)
    #expect(books.canPlace(books.lastGrant!))
    books.ledger.extend(grown, by: 70)
    books.settle(grown)
    #expect(books.ledger.ready == 100)
    #expect(books.broken == nil)
  }
}
