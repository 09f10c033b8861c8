import ChunkLedger
import Testing

/// Limits, weights and threads of groups.
@Suite struct GroupTests {
  let books = Books(budget: 1_000)

  @Test("victims for a group's limit come from the group, however old the others are")
  func limitVictims() {
    let old = books.add([100, 100])
    let group = books.ledger.addGroup(limit: 300, weight: 1)
    let own = books.add([100, 100, 100], group: group)
    books.owner.touch(own[0])
    #expect(books.ask(150, group: group) == .granted([own[1], own[2]]))
    #expect(books.ledger.slots(in: .ready) == old + [own[0]])
  }

  @Test("a group's limit and the budget are covered together")
  func limitAndBudget() {
    let old = books.add([400, 300])
    let group = books.ledger.addGroup(limit: 300, weight: 1)
    let own = books.add([100, 200], group: group)
    // 200 for the limit take both of the group; what those bring is enough for the budget.
    #expect(books.ask(200, group: group) == .granted(own))
    #expect(books.state(old[0]) == .ready)
    // Until they are gone, the group has nothing more to give.
    #expect(books.ask(100, group: group) == .refused)
    #expect(books.complete(books.lastGrant!).count == 1)
    #expect(books.ask(100, group: group) == .granted([]))
    #expect(books.ask(100) == .granted([old[0]]))
    #expect(books.broken == nil)
  }

  @Test("a request that a group's limit refuses frees nothing elsewhere")
  func refusedByLimit() {
    let old = books.add(900)
    let group = books.ledger.addGroup(limit: 100, weight: 1)
    let own = books.add(100, group: group)
    books.owner.beginUse(of: own, byToken: true)
    #expect(books.ask(50, group: group) == .refused)
    #expect(books.state(old) == .ready)
    #expect(books.ledger.freeing == 0)
    #expect(books.owner.unclaims == 0)
  }

  @Test("what a grant holds back counts against its group")
  func heldInGroup() {
    let group = books.ledger.addGroup(limit: 100, weight: 1)
    #expect(books.ask(80, group: group) == .granted([]))
    #expect(books.ask(30, group: group) == .refused)
    #expect(books.ask(20, group: group) == .granted([]))
  }

  @Test("age is divided by the weight: twice the weight stays twice as long")
  func weights() {
    let heavy = books.ledger.addGroup(limit: .max, weight: 2)
    let first = books.add(500, group: heavy)
    let second = books.add(250)
    let third = books.add(250)
    for _ in 0..<7 { books.owner.touch(third) }
    // Now is 10, so the ages are 9 / 2, 8 and 0.
    #expect(books.ask(100) == .granted([second]))
    #expect(books.ask(300) == .granted([first]))
    #expect(books.state(third) == .ready)
  }

  @Test("a weight that is changed counts from the next look")
  func weightIsChanged() {
    let group = books.ledger.addGroup(limit: .max, weight: 1)
    let first = books.add(500, group: group)
    let second = books.add(500)
    let third = books.add(0)
    for _ in 0..<7 { books.owner.touch(third) }
    books.ledger.setWeight(4, of: group)
    #expect(books.ask(100) == .granted([second]))
    #expect(books.state(first) == .ready)
  }

  @Test("chunks that only another thread may free are skipped when their bytes would come late")
  func boundElsewhere() {
    let bound = books.ledger.addGroup(limit: .max, weight: 1, boundTo: 7)
    let theirs = books.add(500, group: bound)
    let ours = books.add(500)
    #expect(books.ask(500, thread: 1, mayFreeLate: false) == .granted([ours]))
    #expect(books.state(theirs) == .ready)
    // There is nothing else now, and that is known without a look.
    books.owner.resetCounts()
    #expect(books.ask(500, thread: 1, mayFreeLate: false) == .refused)
    #expect(books.owner.claims == 0)
    // Its own thread, or one that can wait, may have it; the refusal above is not held against them.
    #expect(books.ask(200, thread: 7, mayFreeLate: false) == .granted([theirs]))
  }

  @Test("a thread that can wait takes chunks of bound groups in their turn")
  func boundAndLate() {
    let group = books.ledger.addGroup(limit: .max, weight: 1)
    books.ledger.bind(group, to: 7)
    let first = books.add(500, group: group)
    books.add(500)
    #expect(books.ask(500, thread: 1) == .granted([first]))
  }

  @Test("what is above a lowered limit goes, from that group only")
  func lowered() {
    let other = books.add(100)
    let group = books.ledger.addGroup(limit: .max, weight: 1)
    let own = books.add([100, 100, 100], group: group)
    books.ledger.setLimit(150, of: group)
    #expect(books.hasSurplus(above: 1_000))
    let claimed = books.ledger.claimSurplus(above: 1_000, protectedSince: .max, owner: &books.owner)
    #expect(claimed == [own[0], own[1]])
    #expect(!books.hasSurplus(above: 1_000))
    #expect(books.state(other) == .ready)
  }

  @Test("a group's number is used again, without its limit and its memory")
  func numbersAgain() {
    let group = books.ledger.addGroup(limit: 10, weight: 3, boundTo: 5)
    books.ledger.removeGroup(group)
    let next = books.ledger.addGroup(limit: .max, weight: 1)
    #expect(next == group)
    #expect(books.ledger.limit(of: next) == .max)
    #expect(books.ask(1_000, group: next) == .granted([]))
    #expect(books.broken == nil)
  }
}
