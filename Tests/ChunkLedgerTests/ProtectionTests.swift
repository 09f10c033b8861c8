import ChunkLedger
import ChunkLedgerModel
import Testing

/// What an open frame protects, under orders by recency and others.
@Suite struct ProtectionTests {
  @Test("what was used since the frame began is no victim, what was used before is")
  func frame() {
    let books = Books(budget: 90)
    let slots = books.add([30, 30, 30])
    let frame = books.owner.now
    books.owner.touch(slots[1])
    #expect(books.ask(60, protectedSince: frame) == .granted([slots[0], slots[2]]))
    #expect(books.ask(30, protectedSince: frame) == .refused)
    #expect(books.state(slots[1]) == .ready)
    // The frame has ended.
    books.ledger.noteChange()
    #expect(books.ask(30) == .granted([slots[1]]))
  }

  @Test("a chunk used exactly when the frame began was used before it")
  func boundary() {
    let books = Books(budget: 30)
    let slot = books.add(30)
    #expect(books.ask(30, protectedSince: books.owner.now - 1) == .refused)
    #expect(books.ask(30, protectedSince: books.owner.now, isBestEffort: true) == .granted([slot]))
  }

  @Test("a hit between look and claim brings a chunk into the frame")
  func raceIntoFrame() {
    let books = Books(budget: 30)
    let slot = books.add(30)
    let frame = books.owner.now
    books.owner.raceNextClaim(of: slot)
    #expect(books.ask(30, protectedSince: frame) == .refused)
    #expect(books.state(slot) == .ready)
    #expect(books.broken == nil)
  }

  @Test("surplus and age respect the frame")
  func surplus() {
    let books = Books(budget: 90)
    let slots = books.add([30, 30, 30])
    let frame = books.owner.seats[slots[0].index].stamp
    #expect(books.ledger.claimSurplus(above: 0, protectedSince: frame, owner: &books.owner) == [slots[0]])
    #expect(books.ledger.claimUnused(since: .max, protectedSince: frame, owner: &books.owner).isEmpty)
    let age = books.owner.seats[slots[1].index].stamp
    #expect(books.ledger.claimUnused(since: age, protectedSince: .max, owner: &books.owner) == [slots[1]])
    #expect(books.state(slots[2]) == .ready)
  }

  @Test("under an order by size, protected chunks are set aside and come back into line")
  func largestFirst() {
    let books = Books(budget: 100, order: LargestFirst())
    let large = books.add(50)
    let middle = books.add(30)
    let small = books.add(20)
    let frame = books.owner.now
    books.owner.touch(large)
    #expect(books.ask(40, protectedSince: frame) == .granted([middle, small]))
    #expect(books.broken == nil)
    #expect(books.complete(books.lastGrant!).count == 1)
    // Refused in the frame, and in line for whoever comes after it.
    #expect(books.ask(60, protectedSince: frame) == .refused)
    #expect(books.ledger.ready == 50)
    #expect(books.broken == nil)
    books.ledger.noteChange()
    #expect(books.ask(20) == .granted([large]))
  }

  @Test("an order by size takes the largest first, among equals the least recently used")
  func bySize() {
    let books = Books(budget: 150, order: LargestFirst())
    let slots = books.add([10, 40, 40, 20, 40])
    books.owner.touch(slots[1])
    #expect(books.ask(130) == .granted([slots[2], slots[4], slots[1], slots[3]]))
  }
}
