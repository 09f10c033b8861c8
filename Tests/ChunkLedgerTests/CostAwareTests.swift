import ChunkLedger
import ChunkLedgerModel
import Testing

/// Orders that go by what generating costs.
@Suite struct CostAwareTests {
  private func books(_ budget: Int) -> Books<CostAware> { Books(budget: budget, order: CostAware()) }

  private func use(_ stamp: UInt64, uses: UInt64 = 1, cost: UInt64) -> ChunkUse {
    ChunkUse(stamp: stamp, uses: uses, cost: cost)
  }

  @Test func cheapLargeAndSeldomUsedGoFirst() {
    let order = CostAware()
    let plain = order.key(for: use(1, uses: 4, cost: 100), size: 10)
    #expect(order.key(for: use(1, uses: 4, cost: 90), size: 10) < plain)
    #expect(order.key(for: use(1, uses: 4, cost: 100), size: 11) < plain)
    #expect(order.key(for: use(1, uses: 3, cost: 100), size: 10) < plain)
    // When it was used says nothing by itself.
    #expect(order.key(for: use(9, uses: 4, cost: 100), size: 10) == plain)
    #expect(order.key(for: use(1, uses: 0, cost: 0), size: 10) > 0)
  }

  @Test func whatIsNotUsedIsOvertakenAtLast() {
    var order = CostAware()
    let dear = order.key(for: use(1, cost: 1_000), size: 10)
    var rounds = 0
    while order.key(for: use(2, cost: 500), size: 10) < dear, rounds < 100 {
      order.chose(key: order.key(for: use(2, cost: 500), size: 10))
      rounds += 1
    }
    #expect(rounds > 0 && rounds < 5)
  }

  @Test("a small victim that a larger one makes needless stays")
  func spares() {
    let books = books(100)
    let slots = books.add([10, 90])
    // Worth the same per byte, the smaller one is looked at first: by its key it would go.
    #expect(books.ask(85) == .granted([slots[1]]))
    #expect(books.state(slots[0]) == .ready)
    #expect(books.broken == nil)
    _ = books.complete(books.lastGrant!)
    #expect(books.ask(15) == .granted([slots[0]]) || books.state(slots[0]) == .ready)
    #expect(books.broken == nil)
  }

  @Test("what a group's limit needs to go is not spared")
  func sparesNothingThatAGroupNeeds() {
    let books = books(200)
    let group = books.ledger.addGroup(limit: 50, weight: 1)
    let inGroup = books.add([40], group: group)
    let others = books.add([100])
    // The group is short of 30 bytes, the pool of 20: its own chunk must go, and is enough for both.
    #expect(books.ask(40, group: group) == .granted(inGroup))
    #expect(books.state(others[0]) == .ready)
    #expect(books.broken == nil)
  }

  @Test func whatFadesIsOvertakenByWhatIsUsedNow() {
    var order = DecayingUse(capacity: 4)
    func request(_ number: UInt32) {
      order.note(OrderedRequest(number: number, size: 10, cost: 100, budget: 100, residents: 1))
    }
    func key(_ number: UInt32) -> UInt64 {
      order.key(for: ChunkUse(stamp: 0, uses: 1, cost: 100, number: number), size: 10)
    }
    for _ in 0..<8 { request(1) }
    request(2)
    #expect(key(1) > key(2))
    for _ in 0..<40 { request(3) }
    for _ in 0..<40 { request(2) }
    #expect(key(2) > key(1))
    // A number that shares its place forgets the older one.
    request(5)
    #expect(key(1) < key(5))
  }

  @Test("a shadow forgets what it cannot tell apart, and keeps its budget when that moves")
  func shadows() {
    let shadow = ShadowCache(budget: 100, order: LeastRecentlyUsed(), capacity: 4)
    #expect([1, 2, 1].map { shadow.use($0, size: 40, cost: 1) } == [false, false, true])
    #expect(!shadow.use(5, size: 20, cost: 1))
    #expect(!shadow.use(1, size: 40, cost: 1))
    shadow.setBudget(40)
    #expect(!shadow.use(2, size: 40, cost: 1))
    #expect(!shadow.use(3, size: 41, cost: 1))
    #expect(shadow.use(2, size: 40, cost: 1))
  }
}
