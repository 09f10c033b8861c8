import MemChunks
import TestSupport
import Testing

/// A limit says how long to wait for room or for another's generation, and nothing else: a thread or a task that has
/// neither to wait for has its chunk, however long generating takes.
@Suite("Deadlines are for waiting", .timeLimit(.hang))
struct TaskDeadlineTests {
  /// The ways in which a thread can ask.
  private static let uses: [@Sendable (TrackedChunk, ChunkPool, Duration?) throws -> Void] = [
    { chunk, _, limit in try chunk.ensureReady(waitingUpTo: limit) },
    { chunk, _, limit in try chunk.withReady(waitingUpTo: limit) {} },
    { chunk, _, limit in _ = try chunk.pin(waitingUpTo: limit) },
    { chunk, pool, limit in try pool.withReady([chunk], waitingUpTo: limit) {} },
    { chunk, pool, limit in _ = try pool.pin([chunk], waitingUpTo: limit) },
  ]

  /// How a use by a thread ends, and one by a task, in each of the ways.
  private static func outcomes(
    _ pool: ChunkPool, _ chunk: TrackedChunk, byTask: Bool, limit: Duration = .zero,
    before: @escaping @Sendable () -> Void = {}
  ) async throws -> [Outcome] {
    let outcomes = Locked([Outcome]())
    for way in 0..<5 {
      before()
      if byTask {
        try await noHangInTask {
          let outcome = await outcome { try await NoHangTaskTests.uses[way].use(chunk, pool, limit) }
          outcomes.withLock { $0.append(outcome) }
        }
      } else {
        try await noHang { _ in
          let outcome = outcome { try uses[way](chunk, pool, limit) }
          outcomes.withLock { $0.append(outcome) }
        }
      }
    }
    return outcomes.current
  }

  @Test("no time for a hit", arguments: [false, true])
  func hit(byTask: Bool) async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunk = TrackedChunk(in: pool, label: "chunk", size: 6)
    try await chunk.ensureReady()
    #expect(try await Self.outcomes(pool, chunk, byTask: byTask) == Array(repeating: .ready, count: 5))
    #expect(chunk.generations == 1)
    checkNothingIsLeft(of: pool)
  }

  @Test("no time for a miss with room, or with room to be made", arguments: [false, true], [0, 6])
  func room(byTask: Bool, victimSize: Int) async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunk = TrackedChunk(in: pool, label: "chunk", size: 6)
    let victim = TrackedChunk(in: pool, label: "victim", size: victimSize)
    for _ in 0..<Stress.rounds(40) {
      let outcomes = try await Self.outcomes(pool, chunk, byTask: byTask) {
        pool.freeAll()
        try! victim.ensureReady()
      }
      #expect(outcomes == Array(repeating: .ready, count: 5))
    }
    checkNothingIsLeft(of: pool)
  }

  @Test("a miss whose generation takes longer than the limit", arguments: [false, true])
  func slow(byTask: Bool) async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunk = TrackedChunk(in: pool, label: "chunk", size: 6)
    // Longer than the limit by far, however late the limit is noticed.
    chunk.hooks.generate = { _ in Stress.pause(microseconds: 50_000) }
    let outcomes = try await Self.outcomes(pool, chunk, byTask: byTask, limit: .milliseconds(1)) { pool.freeAll() }
    #expect(outcomes == Array(repeating: .ready, count: 5))
    #expect(chunk.generations == 5)
    checkNothingIsLeft(of: pool)
  }

  @Test("no time for a miss without room", arguments: [false, true])
  func noRoom(byTask: Bool) async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunk = TrackedChunk(in: pool, label: "chunk", size: 6)
    let held = TrackedChunk(in: pool, label: "held", size: 6)
    let pin = try await held.pin()
    #expect(try await Self.outcomes(pool, chunk, byTask: byTask) == Array(repeating: .noRoom(.deadline), count: 5))
    pin.unpin()
    #expect(chunk.generations == 0)
    checkNothingIsLeft(of: pool)
  }

  @Test("no time for another's generation", arguments: [false, true])
  func joined(byTask: Bool) async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunk = TrackedChunk(in: pool, label: "chunk", size: 6)
    let isSlow = Gate()
    chunk.hooks.generate = { _ in isSlow.wait() }
    let maker = TestThread { try! chunk.ensureReady() }
    isSlow.waitForArrivals()
    let expected = Array(repeating: Outcome.cancelled(atDeadline: true), count: 5)
    #expect(try await Self.outcomes(pool, chunk, byTask: byTask) == expected)
    isSlow.open()
    maker.join()
    #expect(chunk.generations == 1)
    checkNothingIsLeft(of: pool)
  }

  @Test("cancelling ends a use at any time, also while it generates for itself")
  func cancelled() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunk = TrackedChunk(in: pool, label: "chunk", size: 6)
    let isSlow = Gate()
    chunk.hooks.generate = { _ in isSlow.wait() }
    try await noHangInTask {
      let task = Task { await outcome { try await chunk.withReady(waitingUpTo: .seconds(1_000)) {} } }
      while chunk.generations == 0 { await Task.yield() }
      task.cancel()
      #expect(await task.value == .cancelled(atDeadline: false))
    }
    isSlow.open()
    checkNothingIsLeft(of: pool)
  }
}
