import MemChunks
import TestSupport
import Testing

/// Many tasks that wait: each is looked at when something happened that could help it, and told when nothing can.
@Suite("No hang: many who wait for room", .timeLimit(.hang))
struct WaitingTests {
  /// A task that uses a chunk, and how that ends.
  private static func use(_ chunk: TrackedChunk, _ limit: Duration? = nil) -> Task<Outcome, Never> {
    Task { await outcome { try await chunk.withReady(waitingUpTo: limit) { precondition(chunk.isWhole) } } }
  }

  /// Runs `body` in a task while a scope holds `held`; `letGo`, which it must call, ends the scope.
  private static func whileHeld(
    _ held: TrackedChunk, _ body: @escaping @Sendable (_ letGo: @Sendable () -> Void) async -> Void
  ) async throws {
    let isOver = Gate()
    let holder = TestThread { try! held.withReady { isOver.wait() } }
    isOver.waitForArrivals()
    try await noHangInTask { await body { isOver.open() } }
    holder.join()
  }

  private static func wait(for count: Int, in pool: ChunkPool) async {
    while pool._waiting != count { await Task.yield() }
  }

  @Test("a smaller one goes before larger ones that came first, one of the same size after them")
  func overtaking() async throws {
    let pool = ChunkPool(budget: .bytes(100))
    let held = pool.tracked("held", 60)
    let log = ChunkLog()
    let large = pool.tracked(20, of: 50, "l", log: log)
    let small = pool.tracked(20, of: 40, "s", log: log)
    try await Self.whileHeld(held) { letGo in
      var tasks: [Task<Outcome, Never>] = []
      for chunk in large {
        tasks.append(Self.use(chunk))
        await Self.wait(for: tasks.count, in: pool)
      }
      for chunk in small { #expect(await Self.use(chunk).value == .ready) }
      #expect(large.allSatisfy { $0.generations == 0 })
      letGo()
      for task in tasks { #expect(await task.value == .ready) }
    }
    #expect(large.allSatisfy { $0.generations == 1 })
    checkNothingIsLeft(of: pool)
  }

  @Test("who waits for a chunk that another asked for, too, shares its generation, however many stand before")
  func shared() async throws {
    let pool = ChunkPool(budget: .bytes(100))
    let held = pool.tracked("held", 60)
    let large = pool.tracked(20, of: 90, "l")
    let wanted = pool.tracked("wanted", 50)
    let ended = ByteTally()
    wanted.hooks.generate = { _ in _ = eventually { pool._waiting >= 9 && pool.statistics.generations > 0 } }
    try await Self.whileHeld(held) { letGo in
      let tasks = large.map { Self.use($0) } + (0..<10).map { _ in Self.use(wanted) }
      await Self.wait(for: 30, in: pool)
      letGo()
      for task in tasks {
        #expect(await task.value == .ready)
        ended.add(1)
      }
    }
    #expect(ended.bytes == 30)
    wanted.hooks = .init()
    checkNothingIsLeft(of: pool)
  }

  @Test(
    "who can never be served any more is told so: the budget or a group's limit was lowered", arguments: [false, true])
  func lowered(byGroup: Bool) async throws {
    let pool = ChunkPool(budget: .bytes(100))
    let group = ChunkGroup(in: pool, label: "group", limit: .bytes(90))
    let held = pool.tracked("held", 60, group: group)
    let large = pool.tracked(20, of: 80, "l", group: group)
    let small = pool.tracked(20, of: 45, "s", group: group)
    try await Self.whileHeld(held) { letGo in
      let largeTasks = large.map { Self.use($0) }
      let smallTasks = small.map { Self.use($0) }
      await Self.wait(for: 40, in: pool)
      if byGroup { group.limit = .bytes(70) } else { pool.budget = .bytes(70) }
      for task in largeTasks { #expect(await task.value == .tooLarge) }
      #expect(pool._waiting == 20)
      letGo()
      for task in smallTasks { #expect(await task.value == .ready) }
    }
    keep(large + small)
    checkNothingIsLeft(of: pool)
  }

  @Test("a chunk that becomes smaller while it is waited for")
  func smaller() async throws {
    let pool = ChunkPool(budget: .bytes(100))
    let held = pool.tracked("held", 60)
    let others = pool.tracked(20, of: 45, "o")
    let wanted = pool.tracked("wanted", 50)
    try await Self.whileHeld(held) { letGo in
      let tasks = others.map { Self.use($0) }
      let task = Self.use(wanted)
      await Self.wait(for: 21, in: pool)
      wanted.declaredSize = 40
      wanted.invalidate()
      // Any change will do.
      pool.generationLimit = nil
      #expect(await task.value == .ready)
      letGo()
      for task in tasks { #expect(await task.value == .ready) }
    }
    checkNothingIsLeft(of: pool)
  }

  @Test("an old product is let go of that many wait for")
  func oldProduct() async throws {
    let pool = ChunkPool(budget: .bytes(100))
    let wanted = pool.tracked("wanted", 10)
    try await Self.whileHeld(wanted) { letGo in
      wanted.invalidate()
      let tasks = (0..<50).map { _ in Self.use(wanted) }
      await Self.wait(for: 50, in: pool)
      letGo()
      for task in tasks { #expect(await task.value == .ready) }
    }
    #expect(wanted.generations == 2)
    checkNothingIsLeft(of: pool)
  }

  @Test("only tokens are left: all who wait without a deadline are refused, the others when that passes")
  func onlyTokens() async throws {
    let pool = ChunkPool(budget: .bytes(100))
    let held = pool.tracked("held", 10)
    let pinned = pool.tracked("pinned", 60)
    let wanted = pool.tracked(20, of: 50, "w")
    let pin = try await pinned.pin()
    try await Self.whileHeld(held) { letGo in
      let tasks = wanted.map { Self.use($0) }
      await Self.wait(for: 20, in: pool)
      let patient = wanted.map { Self.use($0, .seconds(1_000)) }
      await Self.wait(for: 40, in: pool)
      letGo()
      for task in tasks { #expect(await task.value == .noRoom(.heldByTokens)) }
      #expect(pool._waiting == 20)
      for task in patient { task.cancel() }
      for task in patient { #expect(await task.value == .cancelled(atDeadline: false)) }
    }
    pin.unpin()
    keep(wanted)
    checkNothingIsLeft(of: pool)
  }

  @Test("tasks of all sizes, in groups with limits, alone and together, some of them cancelled: all end")
  func random() async throws {
    var random = SeededGenerator(seed: Stress.seed("many who wait"))
    let pool = ChunkPool(budget: .bytes(100))
    let groups = [40, 70].map { ChunkGroup(in: pool, label: "\($0)", limit: .bytes($0)) }
    let chunks = (0..<60).map { index in
      TrackedChunk(
        in: pool, group: [nil, groups[0], groups[1]][index % 3], label: "\(index)",
        size: Int.random(in: 0...40, using: &random))
    }
    let held = pool.tracked("held", 100)
    let wishes = (0..<Stress.rounds(500)).map { _ in
      (0..<Int.random(in: 1...3, using: &random)).map { _ in chunks.randomElement(using: &random)! }
    }
    let cancelled = wishes.map { _ in Int.random(in: 0..<8, using: &random) == 0 }
    try await Self.whileHeld(held) { letGo in
      let tasks = wishes.map { wish in Task { await outcome { try await pool.withReady(wish) {} } } }
      while pool._waiting < wishes.count / 2 { await Task.yield() }
      letGo()
      for (task, isCancelled) in zip(tasks, cancelled) where isCancelled { task.cancel() }
      for task in tasks {
        let outcome = await task.value
        #expect([.ready, .tooLarge, .cancelled(atDeadline: false)].contains(outcome), "\(outcome)")
      }
    }
    keep(chunks)
    checkNothingIsLeft(of: pool)
  }
}
