import MemChunks
import TestSupport
import Testing

/// The pool's own threads: how many they become when what they make has to wait, and that all of it ends.
@Suite("No hang: the pool's own threads", .timeLimit(.hang))
struct WorkerTests {
  /// The most threads that a pool was seen to have.
  private final class Peak: Sendable {
    private let most = Locked(0)
    func look(at pool: ChunkPool) {
      let count = pool._threads
      most.withLock { $0 = max($0, count) }
    }
    var count: Int { most.current }
  }

  /// Asks for each chunk in a task of its own; returns how that ended.
  private static func askAll(_ chunks: [TrackedChunk], _ beside: @escaping @Sendable () async -> Void = {}) async throws
    -> [Outcome]
  {
    let outcomes = Locked([Outcome]())
    try await noHangInTask {
      await withTaskGroup { group in
        for chunk in chunks {
          group.addTask {
            let outcome = await outcome { try await chunk.withReady { precondition(chunk.isWhole) } }
            outcomes.withLock { $0.append(outcome) }
          }
        }
        group.addTask { await beside() }
      }
    }
    return outcomes.current
  }

  @Test("500 generations wait for one that another thread makes", arguments: [nil, 500])
  func joined(limit: Int?) async throws {
    let pool = ChunkPool(budget: .bytes(10_000))
    pool.generationLimit = limit
    let shared = TrackedChunk(in: pool, label: "shared", size: 1)
    let chunks = pool.tracked(500, of: 1)
    let isSlow = Gate()
    let peak = Peak()
    shared.hooks.generate = { _ in isSlow.wait() }
    for chunk in chunks {
      chunk.hooks.generate = { _ in
        peak.look(at: pool)
        try shared.withReady { precondition(shared.isWhole) }
      }
    }
    let maker = TestThread { try! shared.ensureReady() }
    isSlow.waitForArrivals()
    let outcomes = try await Self.askAll(chunks) {
      // All wait: most for a thread, as many as have one for what it makes.
      while pool._waiting < 500 { await Task.yield() }
      peak.look(at: pool)
      isSlow.open()
    }
    maker.join()
    #expect(outcomes == Array(repeating: .ready, count: 500))
    #expect(peak.count <= ChunkPool._mostThreads && peak.count > 2, "\(peak.count)")
    #expect(chunks.allSatisfy { $0.generations == 1 } && shared.generations == 1)
    checkNothingIsLeft(of: pool)
  }

  @Test("500 generations need one another in a chain, which a task begins at either end", arguments: [false, true])
  func chain(backwards: Bool) async throws {
    let pool = ChunkPool(budget: .bytes(10_000))
    let chunks = pool.tracked(500, of: 1)
    let peak = Peak()
    for (chunk, next) in zip(chunks, chunks.dropFirst()) {
      // Short, so that a thread's stack holds them where one thread makes them all.
      chunk.hooks.generate = { [unowned next] _ in
        peak.look(at: pool)
        try next.ensureReady()
      }
    }
    let outcomes = try await Self.askAll(backwards ? chunks.reversed() : chunks)
    #expect(outcomes == Array(repeating: .ready, count: 500))
    #expect(peak.count <= ChunkPool._mostThreads, "\(peak.count)")
    for chunk in chunks { chunk.hooks = .init() }
    checkNothingIsLeft(of: pool)
  }

  @Test("500 generations wait for room inside themselves: served or refused, none for ever")
  func room() async throws {
    let pool = ChunkPool(budget: .bytes(200))
    let chunks = pool.tracked(500, of: 1)
    let inner = pool.tracked(4, of: 60, "i")
    let peak = Peak()
    for (index, chunk) in chunks.enumerated() {
      chunk.hooks.generate = { _ in
        peak.look(at: pool)
        try inner[index % 4].withReady {}
      }
    }
    let outcomes = try await Self.askAll(chunks)
    #expect(outcomes.count == 500)
    for outcome in outcomes { #expect(outcome == .ready || outcome.isRefusal, "\(outcome)") }
    #expect(peak.count <= ChunkPool._mostThreads, "\(peak.count)")
    checkNothingIsLeft(of: pool)
  }

  @Test("500 generations in one pool wait for those of another, whose threads wait as well")
  func twoPools() async throws {
    let near = ChunkPool(budget: .bytes(10_000))
    let far = ChunkPool(budget: .bytes(10_000))
    let shared = TrackedChunk(in: near, label: "shared", size: 1)
    let middle = far.tracked(500, of: 1, "m")
    let chunks = near.tracked(500, of: 1)
    let isSlow = Gate()
    let peak = Peak()
    shared.hooks.generate = { _ in isSlow.wait() }
    for (chunk, other) in zip(chunks, middle) {
      chunk.hooks.generate = { _ in
        peak.look(at: near)
        try other.ensureReady()
      }
      other.hooks.generate = { _ in
        peak.look(at: far)
        try shared.ensureReady()
      }
    }
    let maker = TestThread { try! shared.ensureReady() }
    isSlow.waitForArrivals()
    let outcomes = try await Self.askAll(chunks + middle) {
      while near._waiting + far._waiting < 900 { await Task.yield() }
      isSlow.open()
    }
    maker.join()
    #expect(outcomes == Array(repeating: .ready, count: 1_000))
    #expect(peak.count <= ChunkPool._mostThreads, "\(peak.count)")
    checkNothingIsLeft(of: near)
    checkNothingIsLeft(of: far)
  }

  @Test("prefetches that wait have no more threads, and no task waits behind them for ever")
  func prefetches() async throws {
    let pool = ChunkPool(budget: .bytes(10_000))
    let shared = TrackedChunk(in: pool, label: "shared", size: 1)
    let chunks = pool.tracked(300, of: 1)
    let others = pool.tracked(100, of: 1, "o")
    let isSlow = Gate()
    let peak = Peak()
    shared.hooks.generate = { _ in isSlow.wait() }
    for chunk in chunks {
      chunk.hooks.generate = { _ in
        peak.look(at: pool)
        try shared.ensureReady()
      }
    }
    let maker = TestThread { try! shared.ensureReady() }
    isSlow.waitForArrivals()
    let prefetches = chunks.map { pool.prefetch([$0]) }
    let outcomes = try await Self.askAll(others) {
      while peak.count < 2 { peak.look(at: pool) }
      for _ in 0..<100 { await Task.yield() }
      isSlow.open()
    }
    #expect(outcomes == Array(repeating: .ready, count: 100))
    for prefetch in prefetches { #expect(await prefetch.readied.count == 1) }
    maker.join()
    #expect(peak.count <= ChunkPool._mostThreads, "\(peak.count)")
    checkNothingIsLeft(of: pool)
  }

  @Test("a task's deadline passes while it needs a thread to ask for the size again, and none is to be had")
  func deadlineWithoutThread() async throws {
    let pool = ChunkPool(budget: .bytes(1_000))
    let slow = pool.tracked(ChunkPool._mostThreads, of: 1, "s")
    let wanted = pool.tracked("wanted", 1)
    let isSlow = Gate()
    for chunk in slow { chunk.hooks.generate = { _ in isSlow.wait() } }
    let tasks = slow.map { chunk in Task { await outcome { () async throws in try await chunk.ensureReady() } } }
    while pool.statistics.reserved < slow.count { await Task.yield() }
    try await noHangInTask {
      let task = Task {
        await outcome { () async throws in try await wanted.ensureReady(waitingUpTo: .milliseconds(200)) }
      }
      while pool._waiting == 0, !task.isCancelled, pool.statistics.refusals == 0 { await Task.yield() }
      wanted.invalidate()
      #expect(await task.value == .noRoom(.deadline))
    }
    isSlow.open()
    for task in tasks { #expect(await task.value == .ready) }
    #expect(wanted.generations == 0)
    checkNothingIsLeft(of: pool)
  }

  @Test("prefetches that wait for their turn leave threads for those in use, who come first")
  func prefetchesInTurn() async throws {
    let pool = ChunkPool(budget: .bytes(1_000))
    pool.generationLimit = 1
    let most = ChunkPool._mostThreads
    let slow = pool.tracked("slow", 1), wanted = pool.tracked("wanted", 1)
    let ahead = pool.tracked(2 * most, of: 1, "p")
    let isSlow = Gate()
    let order = Locked([String]())
    slow.hooks.generate = { _ in isSlow.wait() }
    for chunk in ahead + [wanted] { chunk.hooks.generate = { chunk in order.withLock { $0.append(chunk.label) } } }
    let maker = TestThread { try! slow.ensureReady() }
    isSlow.waitForArrivals()
    let prefetches = (0..<most).map { pool.prefetch(Array(ahead[2 * $0...2 * $0 + 1])) }
    try await noHangInTask {
      while pool._waiting < most / 2 { await Task.yield() }
      let task = Task { await outcome { () async throws in try await wanted.ensureReady() } }
      while pool._waiting < most / 2 + 1 { await Task.yield() }
      // All the others that there could be are there, too.
      for _ in 0..<1_000 { await Task.yield() }
      isSlow.open()
      #expect(await task.value == .ready)
      for prefetch in prefetches { #expect(await prefetch.readied.count == 2) }
    }
    maker.join()
    #expect(order.current.first == "wanted")
    checkNothingIsLeft(of: pool)
  }

  @Test("generations that would wait for prefetches, of what is being made and of other things, do not")
  func prefetchInside() async throws {
    let pool = ChunkPool(budget: .bytes(1_000))
    let chunks = pool.tracked(100, of: 1), parts = pool.tracked(100, of: 1, "p")
    for (chunk, part) in zip(chunks, parts) {
      chunk.hooks.generate = { [unowned part, unowned pool] chunk in pool.prefetch([chunk, part]).wait() }
    }
    let outcomes = try await Self.askAll(chunks)
    #expect(outcomes == Array(repeating: .ready, count: 100))
    #expect(eventually { parts.allSatisfy(\.isReady) })
    checkNothingIsLeft(of: pool)
  }
}
