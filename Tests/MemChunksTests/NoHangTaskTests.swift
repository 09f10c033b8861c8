import MemChunks
import TestSupport
import Testing

/// Promise 6 for tasks: they wait without a thread, can be cancelled at any point, and mix with threads.
@Suite("No hang: tasks", .timeLimit(.hang))
struct NoHangTaskTests {
  private static func check(_ pool: ChunkPool, _ chunks: [TrackedChunk]) {
    // A worker may still be letting go of what a cancelled task wanted.
    #expect(eventually { pool.statistics.reserved == 0 && pool._waiting == 0 } == true)
    pool.freeAll()
    #expect(pool.used == .bytes(0))
    pool._checkInvariants()
    for chunk in chunks { #expect(!chunk.hasProduct, "\(chunk.label)") }
  }

  /// The ways in which a task can ask for a chunk.
  static let uses: [(name: String, use: @Sendable (TrackedChunk, ChunkPool, Duration?) async throws -> Void)] = [
    ("ensureReady", { chunk, _, limit in try await chunk.ensureReady(waitingUpTo: limit) }),
    ("withReady", { chunk, _, limit in try await chunk.withReady(waitingUpTo: limit) {} }),
    ("pin", { chunk, _, limit in _ = try await chunk.pin(waitingUpTo: limit) }),
    ("withReady([])", { chunk, pool, limit in try await pool.withReady([chunk], waitingUpTo: limit) {} }),
    ("pin([])", { chunk, pool, limit in _ = try await pool.pin([chunk], waitingUpTo: limit) }),
  ]

  @Test("a task that is cancelled before it asks", arguments: 0..<5)
  func cancelledBefore(way: Int) async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunk = TrackedChunk(in: pool, label: "chunk", size: 4)
    try await noHangInTask {
      let task = Task {
        while !Task.isCancelled { await Task.yield() }
        return await outcome { try await Self.uses[way].use(chunk, pool, nil) }
      }
      task.cancel()
      #expect(await task.value == .cancelled(atDeadline: false))
    }
    #expect(chunk.generations == 0)
    Self.check(pool, [chunk])
  }

  @Test("a task that is cancelled while it waits for room", arguments: 0..<5)
  func cancelledInQueue(way: Int) async throws {
    let pool = ChunkPool(budget: .bytes(10))
    pool.generationLimit = 1
    let slow = TrackedChunk(in: pool, label: "slow", size: 4)
    let chunk = TrackedChunk(in: pool, label: "chunk", size: 4)
    let isSlow = Gate()
    slow.hooks.generate = { _ in isSlow.wait() }
    let thread = TestThread { try! slow.ensureReady() }
    isSlow.waitForArrivals()
    try await noHangInTask {
      let task = Task { await outcome { try await Self.uses[way].use(chunk, pool, nil) } }
      while pool._waiting == 0 { await Task.yield() }
      task.cancel()
      #expect(await task.value == .cancelled(atDeadline: false))
    }
    isSlow.open()
    thread.join()
    #expect(chunk.generations == 0)
    Self.check(pool, [slow, chunk])
  }

  @Test("a task that is cancelled while it waits for another's generation, which still serves others", arguments: 0..<5)
  func cancelledWhileJoined(way: Int) async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunk = TrackedChunk(in: pool, label: "chunk", size: 4)
    let isSlow = Gate()
    chunk.hooks.generate = { _ in isSlow.wait() }
    try await noHangInTask {
      let first = Task { await outcome { try await chunk.withReady {} } }
      while chunk.generations == 0 { await Task.yield() }
      let second = Task { await outcome { try await Self.uses[way].use(chunk, pool, nil) } }
      let third = Task { await outcome { try await chunk.withReady {} } }
      while pool._waiting < 2 { await Task.yield() }
      second.cancel()
      #expect(await second.value == .cancelled(atDeadline: false))
      // The one that began it may go, too: the third still wants it.
      first.cancel()
      #expect(await first.value == .cancelled(atDeadline: false))
      #expect(chunk.isWanted)
      isSlow.open()
      #expect(await third.value == .ready)
    }
    #expect(chunk.generations == 1)
    Self.check(pool, [chunk])
  }

  @Test("a task that is cancelled while a worker makes room or generates for it", arguments: 0..<5)
  func cancelledWhileGenerating(way: Int) async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunk = TrackedChunk(in: pool, label: "chunk", size: 8)
    let victim = TrackedChunk(in: pool, label: "victim", size: 8)
    for inFree in [false, true] {
      let isSlow = Gate()
      let wasWanted = Locked<[Bool]>([])
      victim.hooks.free = { _ in if inFree { isSlow.wait() } }
      chunk.hooks.generate = { chunk in
        wasWanted.withLock { $0.append(chunk.isWanted) }
        if !inFree { isSlow.wait() }
        wasWanted.withLock { $0.append(chunk.isWanted) }
      }
      try await noHangInTask {
        try! await victim.ensureReady()
        let task = Task { await outcome { try await Self.uses[way].use(chunk, pool, nil) } }
        while pool.statistics.reserved == 0 && pool.statistics.freeing == 0 { await Task.yield() }
        task.cancel()
        #expect(await task.value == .cancelled(atDeadline: false))
        isSlow.open()
      }
      #expect(eventually { pool.statistics.reserved == 0 && pool.statistics.freeing == 0 } == true)
      #expect(wasWanted.current.last ?? false == false)
      // Whoever wants it next is served, and nothing of the cancelled use still holds it.
      chunk.hooks.generate = nil
      try await noHangInTask { #expect(await outcome { try await chunk.withReady {} } == .ready) }
      victim.hooks.free = nil
      Self.check(pool, [chunk, victim])
    }
  }

  @Test("deadlines of tasks: for room and for a generation", arguments: 0..<5)
  func deadlines(way: Int) async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let held = TrackedChunk(in: pool, label: "held", size: 8)
    let chunk = TrackedChunk(in: pool, label: "chunk", size: 8)
    let isSlow = Gate()
    try await noHangInTask {
      let pin = try! await held.pin()
      #expect(await outcome { try await Self.uses[way].use(chunk, pool, .milliseconds(5)) } == .noRoom(.deadline))
      pin.unpin()
      chunk.hooks.generate = { _ in isSlow.wait() }
      let maker = Task { await outcome { try await chunk.ensureReady() } }
      while chunk.generations == 0 { await Task.yield() }
      #expect(
        await outcome { try await Self.uses[way].use(chunk, pool, .milliseconds(5)) } == .cancelled(atDeadline: true))
      isSlow.open()
      #expect(await maker.value == .ready)
      #expect(await outcome { try await Self.uses[way].use(chunk, pool, .zero) } == .ready)
    }
    Self.check(pool, [held, chunk])
  }

  @Test("the pool's handle is dropped while tasks and threads wait, for room and for a generation")
  func poolDropped() async throws {
    for _ in 0..<20 {
      let box = Locked<ChunkPool?>(ChunkPool(budget: .bytes(10)))
      let slow = TrackedChunk(in: box.current!, label: "slow", size: 8)
      let other = TrackedChunk(in: box.current!, label: "other", size: 8)
      let isSlow = Gate()
      slow.hooks.generate = { _ in isSlow.wait() }
      // The first three ways of asking do not need the handle, so nothing keeps it.
      let unused = ChunkPool(budget: .bytes(0))
      let outcomes = Locked<[Outcome]>([])
      let note: @Sendable (Outcome) -> Void = { outcome in outcomes.withLock { $0.append(outcome) } }
      var threads = [TestThread { note(outcome { try slow.ensureReady() }) }]
      isSlow.waitForArrivals()
      threads += [slow, other].map { chunk in TestThread { note(outcome { try chunk.ensureReady() }) } }
      try await noHangInTask {
        await withTaskGroup { group in
          for chunk in [slow, other] {
            for use in Self.uses.prefix(3) {
              group.addTask { note(await outcome { try await use.use(chunk, unused, nil) }) }
            }
          }
          group.addTask {
            while box.current!._waiting < 8 { await Task.yield() }
            box.set(nil)
          }
        }
      }
      isSlow.open()
      for thread in threads { thread.join() }
      #expect(outcomes.current == Array(repeating: .closed(afterFork: false), count: 9))
      #expect(slow.generations == slow.frees)
      #expect(other.generations == other.frees)
    }
  }

  @Test("threads and tasks want the same room, and blocked threads never stop the tasks")
  func mixed() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunks = (0..<6).map { TrackedChunk(in: pool, label: "\($0)", size: 3) }
    let odd = Locked<[Outcome]>([])
    let use: @Sendable (Int, Int) -> [TrackedChunk] = { who, round in
      [chunks[(who + round) % 6], chunks[(who * 5 + round * 3) % 6]]
    }
    async let threads: Void = noHang(onThreads: 3) { who in
      for round in 0..<500 {
        let outcome = outcome { try pool.withReady(use(who, round)) {} }
        if outcome != .ready { odd.withLock { $0.append(outcome) } }
      }
    }
    async let tasks: Void = noHangInTask {
      await withTaskGroup { group in
        for who in 3..<9 {
          group.addTask {
            for round in 0..<300 {
              let outcome = await outcome { try await pool.withReady(use(who, round)) {} }
              if outcome != .ready { odd.withLock { $0.append(outcome) } }
            }
          }
        }
      }
    }
    _ = try await (threads, tasks)
    #expect(odd.current.isEmpty, "\(odd.current.prefix(3))")
    Self.check(pool, chunks)
  }
}
