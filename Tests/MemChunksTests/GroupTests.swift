import MemChunks
import TestSupport
import Testing

@Suite("Groups: limits, weights, totals; a limit on generations at once")
struct GroupTests {
  @Test("Totals follow a group's chunks through generating, freeing and late bytes")
  func totals() throws {
    let pool = ChunkPool(budget: .bytes(100))
    let group = ChunkGroup(in: pool, label: "g")
    let chunk = pool.tracked("a", 5, group: group), other = pool.tracked("b", 7)
    let seen = Locked<[ChunkGroup.Totals]>([])
    let late = Locked<LateFree?>(nil)
    chunk.hooks.generate = { [unowned group] _ in seen.withLock { $0.append(group.totals) } }
    chunk.hooks.free = { [unowned group] chunk in
      seen.withLock { $0.append(group.totals) }
      late.set(chunk.deferFree(2))
    }
    try other.ensureReady()
    try chunk.ensureReady()
    #expect(group.totals.ready == 5 && group.totals.sum == 5)
    chunk.discard()
    #expect(group.totals.freeing == 2 && group.totals.sum == 2)
    late.current?.finish()
    #expect(group.totals.sum == 0)
    #expect(seen.current.map(\.reserved) == [5, 0] && seen.current.map(\.freeing) == [0, 5])
    #expect(other.group.totals.ready == 7 && other.group.label == "" && other.group.limit == nil)
    chunk.hooks = .init()
    pool._checkInvariants()
  }

  @Test("A group at its limit frees its own, though others are older; room of the pool comes from whoever is oldest")
  func ownVictims() throws {
    let log = ChunkLog()
    let pool = ChunkPool(budget: .bytes(10))
    let group = ChunkGroup(in: pool, label: "g", limit: .bytes(4))
    let others = pool.tracked(3, of: 2, "o", log: log), members = pool.tracked(4, of: 2, "m", group: group, log: log)
    for chunk in others + members[..<3] { try chunk.ensureReady() }
    #expect(log.freed == ["m0"])
    try pool.tracked("new", 2, log: log).ensureReady()
    #expect(log.freed == ["m0", "o0", "new"])
    // Both at once: two of its own for the limit, then the oldest for the rest.
    try pool.withReady([members[0], members[3], pool.tracked("six", 4, log: log)]) {}
    #expect(log.freed.dropFirst(3).prefix(3) == ["m1", "m2", "o1"])
    keep(others + members)
    pool._checkInvariants()
  }

  @Test("A weight keeps a group's chunks longer beside others, or shorter; of one weight, the order is exact")
  func weights() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let group = ChunkGroup(in: pool, label: "g", weight: 1_000)
    let members = pool.tracked(2, of: 2, "m", group: group), others = pool.tracked(20, of: 2)
    for chunk in members { try chunk.ensureReady() }
    // The members are the oldest all along, but not a thousand times as old.
    for chunk in others { try chunk.ensureReady() }
    #expect(readyLabels(members) == ["m0", "m1"] && readyLabels(others) == ["c17", "c18", "c19"])
    #expect(pool.snapshot().map(\.label) == ["c17", "c18", "c19", "m0", "m1"])
    group.weight = 1
    #expect(pool.snapshot().map(\.label) == ["m0", "m1", "c17", "c18", "c19"])
    try others[0].ensureReady()
    #expect(readyLabels(members) == ["m1"])
    // Of little weight it goes first, though it was used last.
    group.weight = 0.001
    try members[1].ensureReady()
    #expect(pool.snapshot().first?.label == "m1")
    try others[1].ensureReady()
    #expect(readyLabels(members).isEmpty && readyLabels(others) == ["c0", "c1", "c17", "c18", "c19"])
    group.weight = -5
    #expect(group.weight > 0)
    pool._checkInvariants()
  }

  @Test("A weight of 2: goes when unused twice as long as another, not before")
  func weightOfTwo() throws {
    let pool = ChunkPool(budget: .bytes(100))
    let group = ChunkGroup(in: pool, label: "g", weight: 2)
    let member = pool.tracked("m", 1, group: group), other = pool.tracked("o", 1)
    func first(memberAge: Int, otherAge: Int) throws -> String? {
      // A frame that begins and ends is a step of the recency clock.
      let steps = [(memberAge, member), (otherAge, other)].sorted { $0.0 > $1.0 }
      try steps[0].1.ensureReady()
      for _ in 0..<(steps[0].0 - steps[1].0) { pool.frame {} }
      try steps[1].1.ensureReady()
      for _ in 0..<steps[1].0 { pool.frame {} }
      return pool.snapshot().first?.label
    }
    _ = try first(memberAge: 1, otherAge: 0)
    #expect(try first(memberAge: 15, otherAge: 10) == "o")
    #expect(try first(memberAge: 25, otherAge: 10) == "m")
    #expect(try first(memberAge: 5, otherAge: 10) == "o")
    pool._checkInvariants()
  }

  @Test("A group that is gone leaves its place to the next; its chunks keep it")
  func groupsComeAndGo() throws {
    let pool = ChunkPool(budget: .bytes(10))
    for round in 0..<20 {
      var group: ChunkGroup? = ChunkGroup(in: pool, label: "g\(round)", limit: .bytes(4))
      let chunk = pool.tracked("a", 3, group: group)
      group = nil
      try chunk.ensureReady()
      #expect(chunk.group.label == "g\(round)" && chunk.group.totals.ready == 3)
      let big = pool.tracked("b", 5, group: chunk.group)
      #expect(TooLarge { try big.ensureReady() }?.group == "g\(round)")
      pool._checkInvariants()
    }
    #expect(pool.used.bytes == 0)
    // The limit of a group that is gone limits nobody else.
    let later = ChunkGroup(in: pool, label: "later")
    try pool.tracked("c", 10, group: later).ensureReady()
    pool._checkInvariants()
  }

  @Test("The generation limit holds, generations inside others are not counted, and all finish", arguments: [1, 2, 3])
  func generationLimit(limit: Int) throws {
    let pool = ChunkPool(budget: .bytes(1_000))
    pool.generationLimit = limit
    #expect(pool.generationLimit == limit)
    let running = Locked((now: 0, most: 0))
    let inner = pool.tracked(8, of: 1, "inner")
    let chunks = pool.tracked(8, of: 1)
    for (chunk, inside) in zip(chunks, inner) {
      chunk.hooks.generate = { _ in
        running.withLock {
          $0.now += 1
          $0.most = max($0.most, $0.now)
        }
        try inside.ensureReady()
        running.withLock { $0.now -= 1 }
      }
    }
    onThreads(8) { number in try! chunks[number].ensureReady() }
    #expect(running.current.most <= limit)
    #expect(readyLabels(chunks + inner).count == 16)
    pool.generationLimit = nil
    #expect(pool.generationLimit == nil)
    pool._checkInvariants()
  }

  @Test("Raising the generation limit lets those go on who wait, uses before prefetches")
  func raisedGenerationLimit() throws {
    let pool = ChunkPool(budget: .bytes(1_000))
    pool.generationLimit = 1
    let log = ChunkLog()
    let gate = Gate()
    let first = pool.tracked("first", 1)
    first.hooks.generate = { _ in gate.wait() }
    let blocker = TestThread { try! first.ensureReady() }
    gate.waitForArrivals()
    let fetched = pool.tracked("fetched", 1, log: log), used = pool.tracked("used", 1, log: log)
    let prefetch = pool.prefetch([fetched])
    let user = TestThread { try! used.ensureReady() }
    pool.generationLimit = 2
    user.join()
    #expect(used.isReady)
    #expect(prefetch.wait().count == 1)
    gate.open()
    blocker.join()
    #expect(Set(log.generated) == ["used", "fetched"])
    pool._checkInvariants()
  }
}
