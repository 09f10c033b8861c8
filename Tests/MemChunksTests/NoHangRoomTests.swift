import MemChunks
import TestSupport
import Testing

/// Promise 6: who may wait for room, and that every such wait ends.
@Suite("No hang: waiting for room", .timeLimit(.hang))
struct NoHangRoomTests {
  private static func check(_ pool: ChunkPool, _ chunks: [TrackedChunk]) {
    pool.freeAll()
    #expect(pool.used == .bytes(0))
    #expect(pool._waiting == 0)
    pool._checkInvariants()
    for chunk in chunks { #expect(!chunk.hasProduct, "\(chunk.label)") }
  }

  @Test("two nested generations want each other's room: one is refused, the other goes on")
  func nestedGenerations() async throws {
    for _ in 0..<50 {
      let pool = ChunkPool(budget: .bytes(10))
      let outer = (0..<2).map { TrackedChunk(in: pool, label: "outer \($0)", size: 4) }
      let inner = (0..<2).map { TrackedChunk(in: pool, label: "inner \($0)", size: 4) }
      let begun = Gate()
      for index in 0..<2 {
        outer[index].hooks.generate = { _ in
          begun.wait()
          try inner[index].ensureReady()
        }
      }
      let outcomes = Locked([Outcome]())
      let opener = TestThread {
        begun.waitForArrivals(2)
        begun.open()
      }
      try await noHang(onThreads: 2) { index in
        let outcome = outcome { try outer[index].ensureReady() }
        outcomes.withLock { $0.append(outcome) }
      }
      opener.join()
      #expect(outcomes.current.filter { $0 == .failed(.noRoom(.holdsOthers)) }.count == 1, "\(outcomes.current)")
      #expect(outcomes.current.filter { $0 == .ready }.count == 1, "\(outcomes.current)")
      Self.check(pool, outer + inner)
    }
  }

  @Test("many nested generations, all of which come to wait for room", arguments: [3, 4, 6])
  func manyNested(count: Int) async throws {
    let pool = ChunkPool(budget: .bytes(count * 4 + 4))
    let outer = (0..<count).map { TrackedChunk(in: pool, label: "outer \($0)", size: 4) }
    let inner = (0..<count).map { TrackedChunk(in: pool, label: "inner \($0)", size: 8) }
    for index in 0..<count { outer[index].hooks.generate = { _ in try inner[index].ensureReady() } }
    let odd = Locked([Outcome]())
    try await noHang(onThreads: count) { index in
      for _ in 0..<300 {
        let outcome = outcome { try outer[index].ensureReady() }
        if outcome != .ready, !outcome.isRefusal { odd.withLock { $0.append(outcome) } }
        outer[index].discard()
      }
    }
    #expect(odd.current.isEmpty, "\(odd.current)")
    Self.check(pool, outer + inner)
  }

  @Test("nested generations in two pools want each other's room", arguments: [false, true])
  func nestedAcrossPools(isScripted: Bool) async throws {
    let pools = (0..<2).map { _ in ChunkPool(budget: .bytes(10)) }
    let outer = (0..<2).map { TrackedChunk(in: pools[$0], label: "outer \($0)", size: 8) }
    let inner = (0..<2).map { TrackedChunk(in: pools[1 - $0], label: "inner \($0)", size: 8) }
    for round in 0..<(isScripted ? 50 : 500) {
      let begun = Gate()
      for index in 0..<2 {
        outer[index].hooks.generate = { _ in
          if isScripted { begun.wait() }
          try inner[index].ensureReady()
        }
      }
      let opener = TestThread {
        if isScripted { begun.waitForArrivals(2) }
        begun.open()
      }
      let outcomes = Locked([Outcome]())
      try await noHang(onThreads: 2) { index in
        let outcome = outcome { try outer[index].ensureReady() }
        outcomes.withLock { $0.append(outcome) }
      }
      opener.join()
      for outcome in outcomes.current { #expect(outcome == .ready || outcome.isRefusal, "round \(round): \(outcome)") }
      if isScripted { #expect(outcomes.current.contains(.failed(.noRoom(.holdsOthers)))) }
      for index in 0..<2 { Self.check(pools[index], [outer[index], inner[1 - index]]) }
    }
  }

  @Test("who holds nothing waits for a generation, even while that sleeps in another pool")
  func sleepingElsewhere() async throws {
    let near = ChunkPool(budget: .bytes(10))
    let far = ChunkPool(budget: .bytes(10))
    let slow = TrackedChunk(in: far, label: "slow", size: 1)
    let holder = TrackedChunk(in: near, label: "holder", size: 8)
    let wanted = TrackedChunk(in: near, label: "wanted", size: 8)
    let isSlow = Gate()
    slow.hooks.generate = { _ in isSlow.wait() }
    holder.hooks.generate = { _ in try slow.ensureReady() }
    let outcomes = Locked([Outcome](repeating: .other("none"), count: 3))
    let opener = TestThread {
      _ = eventually { near._waiting == 1 || outcomes.current[2] != .other("none") }
      isSlow.open()
    }
    try await noHang(onThreads: 3) { index in
      switch index {
      case 0:
        let outcome = outcome { try slow.ensureReady() }
        outcomes.withLock { $0[0] = outcome }
      case 1:
        isSlow.waitForArrivals()
        let outcome = outcome { try holder.ensureReady() }
        outcomes.withLock { $0[1] = outcome }
      default:
        // "holder" has its room, and sleeps in the far pool until "slow" is made.
        _ = eventually { far._waiting == 1 }
        let outcome = outcome { try wanted.ensureReady() }
        outcomes.withLock { $0[2] = outcome }
      }
    }
    opener.join()
    #expect(outcomes.current == [.ready, .ready, .ready])
    Self.check(near, [holder, wanted])
    Self.check(far, [slow])
  }

  @Test("withReady([a, b]) against withReady([b, a]), beside others that want the same room")
  func severalAtOnce() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunks = (0..<4).map { TrackedChunk(in: pool, label: "\($0)", size: 5) }
    let odd = Locked([Outcome]())
    try await noHang(onThreads: 4) { index in
      for round in 0..<1_000 {
        let first = chunks[(index + round) % 4]
        let second = chunks[(index * 3 + 1) % 4]
        let both = index % 2 == 0 ? [first, second] : [second, first]
        let outcome = outcome {
          try pool.withReady(both) { for chunk in both { precondition(chunk.isWhole) } }
        }
        if outcome != .ready { odd.withLock { $0.append(outcome) } }
      }
    }
    #expect(odd.current.isEmpty, "\(odd.current.prefix(3))")
    Self.check(pool, chunks)
  }

  @Test("chunks of several at once need each other: one thread's own order is no ring")
  func severalThatNeedEachOther() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let first = TrackedChunk(in: pool, label: "first", size: 2)
    let second = TrackedChunk(in: pool, label: "second", size: 2)
    let third = TrackedChunk(in: pool, label: "third", size: 2)
    first.hooks.generate = { [unowned second, unowned third] _ in
      try second.ensureReady()
      try third.ensureReady()
    }
    try await noHang { _ in #expect(outcome { try pool.withReady([first, second, third]) {} } == .ready) }
    #expect([first, second, third].map(\.generations) == [1, 1, 1])
    second.hooks.generate = { [unowned first] _ in try first.ensureReady() }
    pool.freeAll()
    try await noHang { _ in #expect(outcome { try pool.withReady([first, second, third]) {} }.isRing) }
    Self.check(pool, [first, second, third])
  }

  @Test("a limit on generations: nested ones pass, others wait their turn", arguments: [1, 2])
  func limited(limit: Int) async throws {
    let pool = ChunkPool(budget: .bytes(40))
    pool.generationLimit = limit
    let running = ByteTally()
    let inner = (0..<4).map { TrackedChunk(in: pool, label: "inner \($0)", size: 2) }
    let outer = (0..<4).map { TrackedChunk(in: pool, label: "outer \($0)", size: 2) }
    for index in 0..<4 {
      outer[index].hooks.generate = { _ in
        running.add(1)
        defer { running.add(-1) }
        try inner[index].ensureReady()
        try inner[(index + 1) % 4].withReady {}
      }
    }
    let odd = Locked([Outcome]())
    try await noHang(onThreads: 4) { index in
      for round in 0..<300 {
        let outcome = outcome { try outer[(index + round) % 4].ensureReady() }
        // The next inner chunk may be another's, made at the top: never a ring, never a hang.
        if outcome != .ready { odd.withLock { $0.append(outcome) } }
        if round % 3 == 0 { pool.freeAll() }
      }
    }
    #expect(odd.current.isEmpty, "\(odd.current.prefix(3))")
    #expect(running.peak <= limit)
    Self.check(pool, inner + outer)
  }

  @Test("lowering the budget under a waiting request, and raising it")
  func budgetChanges() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let held = TrackedChunk(in: pool, label: "held", size: 8)
    let wanted = TrackedChunk(in: pool, label: "wanted", size: 8)
    for (budget, expected) in [(4, Outcome.tooLarge), (16, .ready)] {
      pool.budget = .bytes(10)
      try await noHang(onThreads: 2) { index in
        if index == 0 {
          try! held.withReady {
            _ = eventually { pool._waiting == 1 }
            pool.budget = .bytes(budget)
            let isOver = eventually { pool._waiting == 0 }
            #expect(isOver)
          }
        } else {
          _ = eventually { held.hasProduct }
          #expect(outcome { try wanted.ensureReady() } == expected)
        }
      }
      Self.check(pool, [held, wanted])
    }
  }
}
