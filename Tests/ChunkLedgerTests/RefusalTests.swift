import ChunkLedger
import Testing

/// A refusal costs bounded work, and is remembered until something changes.
@Suite struct RefusalTests {
  /// A hundred bytes, of which only the first 40 can be freed; the rest is protected from `stamp` on.
  private func full() -> (books: Books<LeastRecentlyUsed>, slots: [Slot], protectedSince: UInt64) {
    let books = Books(budget: 100)
    let slots = books.add([20, 20, 20, 20, 20])
    return (books, slots, books.owner.seats[slots[1].index].stamp)
  }

  @Test("with a million entries the second refusal asks the owner nothing")
  func million() {
    let count = 1_000_000
    let books = Books(budget: count)
    for _ in 0..<count { books.add(1) }
    let unprotected = 100_000
    let stamp = books.owner.seats[unprotected - 1].stamp
    #expect(books.ask(count / 2, protectedSince: stamp) == .refused)
    #expect(books.owner.claims == unprotected)
    #expect(books.owner.unclaims == unprotected)
    books.owner.resetCounts()
    for _ in 0..<100 {
      #expect(books.ask(count / 2, protectedSince: stamp) == .refused)
      #expect(books.ask(count, protectedSince: stamp) == .refused)
    }
    #expect(books.owner.claims == 0)
    #expect(books.ledger.ready == count)
    // As much as there is unprotected is still granted.
    guard case .granted(let victims) = books.ask(unprotected, protectedSince: stamp) else {
      Issue.record("what fits was refused")
      return
    }
    #expect(victims.count == unprotected)
  }

  @Test("with everything in use, refusals after the first claim nothing even after changes")
  func allInUse() {
    let books = Books(budget: 10_000)
    for _ in 0..<1_000 { books.owner.beginUse(of: books.add(10), byToken: true) }
    #expect(books.ask(10) == .refused)
    #expect(books.owner.claims == 1_000)
    books.owner.resetCounts()
    for _ in 0..<10 {
      books.ledger.noteChange()
      #expect(books.ask(10) == .refused)
    }
    #expect(books.owner.claims == 0)
    #expect(books.ledger.parkedBytes == 10_000)
  }

  @Test("a smaller request is looked at, and can be granted")
  func smaller() {
    let (books, slots, stamp) = full()
    #expect(books.ask(60, protectedSince: stamp) == .refused)
    #expect(books.ask(40, protectedSince: stamp) == .granted([slots[0], slots[1]]))
  }

  @Test(
    "anything that could turn a refusal into a grant makes the next request look again",
    arguments: [
      "budget", "keep limit", "group limit", "binding", "frame", "abandon", "free", "late", "unpark", "release",
    ])
  func changes(_ change: String) {
    let books = Books(budget: 200)
    let group = books.ledger.addGroup(limit: 50, weight: 1)
    let slots = books.add([20, 20, 20, 20, 20])
    let stamp = books.owner.seats[slots[1].index].stamp
    let generating = books.place(RoomNeed(bytes: 10, group: .pool))
    let going = books.add(10)
    books.ledger.beginFreeing(going)
    let late = books.add(10)
    books.ledger.beginFreeing(late)
    books.ledger.finishFree(late, late: 10)
    let used = books.add(10)
    books.owner.beginUse(of: used, byToken: true)
    #expect(books.ledger.claim(used, owner: &books.owner) == nil)
    #expect(books.ask(5) == .granted([]))
    let grant = books.lastGrant!
    books.add(books.ledger.room)

    #expect(books.ask(60, protectedSince: stamp) == .refused)
    books.owner.resetCounts()
    #expect(books.ask(60, protectedSince: stamp) == .refused)
    #expect(books.owner.claims == 0)
    switch change {
    case "budget": books.ledger.setBudget(210)
    case "keep limit": books.ledger.setKeepLimit(100)
    case "group limit": books.ledger.setLimit(60, of: group)
    case "binding": books.ledger.bind(group, to: 1)
    case "frame": books.ledger.noteChange()
    case "abandon": books.ledger.abandon(generating)
    case "free": books.ledger.finishFree(going)
    case "late": books.ledger.finishLate(10, group: .pool)
    case "unpark":
      books.owner.endUse(of: used, byToken: true)
      books.ledger.unpark(used, use: books.owner.use(of: used))
    default: books.ledger.release(grant)
    }
    #expect(books.ask(60, protectedSince: stamp) == .refused)
    #expect(books.owner.claims > 0, "it was not looked at after: \(change)")
    #expect(books.broken == nil)
  }

  @Test("a refusal that spares chunks of its own choice says nothing to others, nor the others' to it")
  func bestEffort() {
    let (books, slots, stamp) = full()
    #expect(books.ask(60, protectedSince: stamp, isBestEffort: true) == .refused)
    #expect(books.ask(60) == .granted([slots[0], slots[1], slots[2]]))
    let (others, _, since) = full()
    #expect(others.ask(60, protectedSince: since) == .refused)
    others.owner.resetCounts()
    #expect(others.ask(60, protectedSince: since, isBestEffort: true) == .refused)
    #expect(others.owner.claims == 2)
  }

  @Test("who must leave out groups bound to others is refused after one look, too, and so is who is like it")
  func boundElsewhere() {
    let (books, slots, stamp) = full()
    let bound = books.ledger.addGroup(limit: .max, weight: 1, boundTo: 7)
    let own = books.ledger.addGroup(limit: .max, weight: 1, boundTo: 8)
    func ask(_ bytes: Int, thread: UInt, late: Bool = false) -> Books<LeastRecentlyUsed>.Answer {
      books.ask(bytes, protectedSince: stamp, thread: thread, mayFreeLate: late)
    }
    // Two threads to which nothing is bound see the same, those two that own a group each something else.
    for thread: UInt in [0, 3, 7, 8] { #expect(ask(60, thread: thread) == .refused) }
    #expect(books.owner.claims == 6)
    books.owner.resetCounts()
    for _ in 0..<100 {
      for thread: UInt in [8, 0, 7, 5, 3] { #expect(ask(60 + Int(thread), thread: thread) == .refused) }
    }
    #expect(books.owner.claims == 0)
    // What was refused to them says nothing to who may have more freed; what is refused to that one says it to all.
    #expect(ask(60, thread: 0, late: true) == .refused)
    #expect(books.owner.claims == 2)
    #expect(ask(59, thread: 0, late: true) == .refused)
    #expect(books.owner.claims == 4)
    for thread: UInt in [0, 3, 7, 8] { #expect(ask(59, thread: thread) == .refused) }
    #expect(books.owner.claims == 4)
    #expect(ask(40, thread: 0) == .granted([slots[0], slots[1]]))
    _ = (bound, own)
  }

  @Test("a group whose thread has ended is freed for nobody, and lies above no limit that could be kept")
  func boundToNobody() {
    let books = Books(budget: 100)
    let group = books.ledger.addGroup(limit: .max, weight: 1, boundTo: BoundThread.nobody)
    let slot = books.add(60, group: group), other = books.add(40)
    #expect(books.ask(50, mayFreeLate: true) == .refused)
    #expect(books.ask(50, thread: 9, mayFreeLate: true) == .refused)
    #expect(books.owner.claims == 0)
    #expect(books.ledger.claimSurplus(above: 0, protectedSince: .max, owner: &books.owner) == [other])
    books.ledger.finishFree(other)
    books.ledger.bind(group, to: 9)
    #expect(books.ask(50, thread: 9, mayFreeLate: false) == .granted([slot]))
  }

  @Test("what a group's limit refuses says nothing to other groups")
  func perGroup() {
    let (books, slots, _) = full()
    let group = books.ledger.addGroup(limit: 10, weight: 1)
    let small = books.place(RoomNeed(bytes: 0, group: group))
    books.ledger.extend(small, by: 10)
    // Refused by the limit of the group, whose only chunk is still generating.
    #expect(books.ask(10, group: group) == .refused)
    #expect(books.ask(10) == .granted([slots[0]]))
  }

  @Test("what there is not at all is refused to every group, and to several at once, after one look")
  func acrossGroups() {
    let (books, _, stamp) = full()
    let groups = (0..<3).map { _ in books.ledger.addGroup(limit: .max, weight: 1) }
    let several = RoomRequest(Few(groups.map { RoomNeed(bytes: 20, group: $0) }), protectedSince: stamp)
    #expect(books.ask(several) == .refused)
    #expect(books.owner.claims == 2)
    #expect(books.ask(several) == .refused)
    #expect(books.ask(60, group: groups[1], protectedSince: stamp) == .refused)
    #expect(books.ask(60, protectedSince: stamp) == .refused)
    #expect(books.owner.claims == 2)
  }

  @Test("several at once remember which group's limit was in the way")
  func severalByLimit() {
    let books = Books(budget: 200)
    let group = books.ledger.addGroup(limit: 40, weight: 1)
    let own = books.add([20, 20], group: group)
    let frame = books.owner.seats[own[0].index].stamp
    let needs: Few = [RoomNeed(bytes: 10, group: .pool), RoomNeed(bytes: 30, group: group)]
    #expect(books.ask(RoomRequest(needs, protectedSince: frame)) == .refused)
    #expect(books.owner.claims == 1)
    #expect(books.ask(RoomRequest(needs, protectedSince: frame)) == .refused)
    #expect(books.ask(35, group: group, protectedSince: frame) == .refused)
    #expect(books.owner.claims == 1)
    #expect(books.ask(20, group: group, protectedSince: frame) == .granted([own[0]]))
  }
}
