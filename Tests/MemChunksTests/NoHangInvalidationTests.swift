import MemChunks
import TestSupport
import Testing

/// Promise 6 where a product is out of date before it is there, again and again.
@Suite("No hang: invalidated while generated, for ever", .timeLimit(.hang))
struct NoHangInvalidationTests {
  /// The ways in which a thread can ask.
  private static let uses: [@Sendable (TrackedChunk, ChunkPool, Duration?) throws -> Void] = [
    { chunk, _, limit in try chunk.ensureReady(waitingUpTo: limit) },
    { chunk, _, limit in try chunk.withReady(waitingUpTo: limit) { precondition(chunk.isWhole) } },
    { chunk, _, limit in _ = try chunk.pin(waitingUpTo: limit) },
    { chunk, pool, limit in try pool.withReady([chunk], waitingUpTo: limit) { precondition(chunk.isWhole) } },
    { chunk, pool, limit in _ = try pool.pin([chunk], waitingUpTo: limit) },
  ]

  /// A pool whose clock goes on by a second with each generation of "chunk", which another thread then invalidates.
  private static func restless() -> (pool: ChunkPool, chunk: TrackedChunk) {
    let clock = ManualClock()
    let pool = ChunkPool(budget: .bytes(10), time: clock.read)
    let chunk = TrackedChunk(in: pool, label: "chunk", size: 4)
    chunk.hooks.generate = { chunk in
      clock.advance(by: .seconds(1))
      TestThread { chunk.invalidate() }.join()
    }
    return (pool, chunk)
  }

  @Test("a thread's deadline passes while others invalidate", arguments: 0..<5)
  func threadDeadline(way: Int) async throws {
    let (pool, chunk) = Self.restless()
    try await noHang { _ in
      let outcome = outcome { try Self.uses[way](chunk, pool, .seconds(5)) }
      #expect(outcome == .cancelled(atDeadline: true))
    }
    #expect(chunk.generations == 6)
    chunk.hooks = .init()
    checkNothingIsLeft(of: pool)
  }

  @Test("a task's deadline passes while others invalidate", arguments: 0..<5)
  func taskDeadline(way: Int) async throws {
    let (pool, chunk) = Self.restless()
    try await noHangInTask {
      let outcome = await outcome { try await NoHangTaskTests.uses[way].use(chunk, pool, .seconds(500)) }
      #expect(outcome == .cancelled(atDeadline: true))
    }
    #expect(chunk.generations == 501)
    chunk.hooks = .init()
    checkNothingIsLeft(of: pool)
  }

  @Test("a task is cancelled while others invalidate", arguments: 0..<5)
  func cancelled(way: Int) async throws {
    let (pool, chunk) = Self.restless()
    try await noHangInTask {
      let task = Task { await outcome { try await NoHangTaskTests.uses[way].use(chunk, pool, nil) } }
      while chunk.generations < 3 { await Task.yield() }
      task.cancel()
      #expect(await task.value == .cancelled(atDeadline: false))
    }
    #expect(eventually { pool.statistics.reserved == 0 && pool.statistics.freeing == 0 } == true)
    let count = chunk.generations
    for _ in 0..<100 { yieldThread() }
    #expect(chunk.generations == count)
    chunk.hooks = .init()
    checkNothingIsLeft(of: pool)
  }

  @Test("those who joined have deadlines of their own")
  func joined() async throws {
    let (pool, chunk) = Self.restless()
    let outcomes = Locked([Outcome]())
    try await noHang(onThreads: 3) { index in
      let outcome = outcome { try chunk.withReady(waitingUpTo: .seconds(10 * (index + 1))) {} }
      outcomes.withLock { $0.append(outcome) }
    }
    // In the end they wait for the generation, or for the last product to be gone.
    let ends: [Outcome] = [.cancelled(atDeadline: true), .noRoom(.deadline)]
    #expect(outcomes.current.count == 3 && outcomes.current.allSatisfy { ends.contains($0) }, "\(outcomes.current)")
    chunk.hooks = .init()
    checkNothingIsLeft(of: pool)
  }

  @Test("a prefetch does not begin again")
  func prefetch() async throws {
    let (pool, chunk) = Self.restless()
    let next = TrackedChunk(in: pool, label: "next", size: 4)
    try await noHangInTask {
      let readied = await pool.prefetch([chunk, next]).readied
      #expect(readied.map(\.label) == ["next"])
    }
    #expect(chunk.generations == 1)
    chunk.hooks = .init()
    checkNothingIsLeft(of: pool)
  }

  @Test("a generate() that invalidates itself: used once, out of date for the next", arguments: 0..<5, [nil, 0])
  func itself(way: Int, keepLimit: Int?) async throws {
    let pool = ChunkPool(budget: .bytes(10))
    pool.keepLimit = keepLimit.map { .bytes($0) }
    let chunk = TrackedChunk(in: pool, label: "chunk", size: 4)
    chunk.hooks.generate = { $0.invalidate() }
    for round in 1...3 {
      try await noHang { _ in #expect(outcome { try Self.uses[way](chunk, pool, nil) } == .ready) }
      #expect(chunk.generations == round && !chunk.isReady && chunk.frees == round)
    }
    for round in 4...6 {
      try await noHangInTask {
        #expect(await outcome { try await NoHangTaskTests.uses[way].use(chunk, pool, nil) } == .ready)
      }
      #expect(chunk.generations == round && !chunk.isReady)
      #expect(eventually { chunk.frees == round } == true)
    }
    chunk.hooks = .init()
    checkNothingIsLeft(of: pool)
  }

  @Test("a generate() that invalidates itself: whoever waits gets the same product, held until all let go")
  func itselfWithOthers() async throws {
    let pool = ChunkPool(budget: .bytes(20))
    let beside = TrackedChunk(in: pool, label: "beside", size: 4)
    let chunk = TrackedChunk(in: pool, label: "chunk", size: 4)
    let isHeld = Gate()
    let begun = Gate()
    chunk.hooks.generate = { chunk in
      begun.open()
      _ = eventually { pool._waiting == 3 }
      chunk.invalidate()
      #expect(!chunk.isReady)
    }
    let opener = TestThread {
      isHeld.waitForArrivals(4)
      isHeld.open()
    }
    try await noHang(onThreads: 4) { index in
      if index > 0 { begun.wait() }
      try! pool.withReady(index == 3 ? [beside, chunk] : [chunk]) {
        precondition(chunk.isWhole && chunk.generations == 1)
        isHeld.wait()
      }
    }
    opener.join()
    #expect(chunk.generations == 1 && chunk.frees == 1)
    checkNothingIsLeft(of: pool)
  }

  @Test("an update from inside the closure of a value: the old value once, then the new")
  func value() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let box = Locked<ValueChunk<Int>?>(nil)
    let chunk = ValueChunk(in: pool, label: "chunk", size: 4) {
      box.current!.update(size: 4) { 2 }
      return 1
    }
    box.set(chunk)
    #expect(try chunk.withReady { $0 } == 1)
    #expect(try chunk.withReady { $0 } == 2)
    #expect(try chunk.withReady { $0 } == 2)
    box.set(nil)
    checkNothingIsLeft(of: pool)
  }

  @Test("the first of two invalidates the second, which is yet to be made, and nothing is kept")
  func itsNeighbour() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    pool.keepLimit = .bytes(0)
    let first = TrackedChunk(in: pool, label: "first", size: 4)
    let second = TrackedChunk(in: pool, label: "second", size: 4)
    first.hooks.generate = { _ in second.invalidate() }
    try await noHang { _ in
      try! pool.withReady([first, second]) { precondition(first.isWhole && second.isWhole) }
    }
    #expect(first.generations == 1 && second.generations == 1)
    first.hooks = .init()
    checkNothingIsLeft(of: pool)
  }

  @Test("a size that invalidates its own chunk")
  func inSize() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunk = TrackedChunk(in: pool, label: "chunk", size: 4)
    chunk.hooks.size = { $0.invalidate() }
    for _ in 0..<3 {
      try await noHang { _ in try! chunk.withReady { precondition(chunk.isWhole) } }
      try await noHangInTask { try! await chunk.withReady { precondition(chunk.isWhole) } }
    }
    chunk.hooks = .init()
    checkNothingIsLeft(of: pool)
  }
}
