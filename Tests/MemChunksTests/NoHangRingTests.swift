import MemChunks
import TestSupport
import Testing

/// Promise 6: chunks that need each other in a ring are told so, on one thread or several, in one pool or two.
@Suite("No hang: rings of generations", .timeLimit(.hang))
struct NoHangRingTests {
  /// Chunks of a ring: each one's `generate()` uses the next, when all have begun.
  private static func ring(of count: Int, in pools: [ChunkPool]) -> [TrackedChunk] {
    let chunks = (0..<count).map { index in
      TrackedChunk(in: pools[index % pools.count], label: "\(index)", size: 2)
    }
    for (index, chunk) in chunks.enumerated() {
      let next = chunks[(index + 1) % count]
      // Unowned: a ring of chunks that keep each other would never be freed.
      chunk.hooks.generate = { [unowned next] _ in try next.ensureReady() }
    }
    return chunks
  }

  private static func check(_ chunks: [TrackedChunk], _ pools: [ChunkPool]) {
    for pool in pools {
      pool.freeAll()
      #expect(pool.used == .bytes(0))
      #expect(pool._waiting == 0)
      pool._checkInvariants()
    }
    for chunk in chunks { #expect(!chunk.hasProduct) }
  }

  @Test("one thread: the labels are those on the ring, the first again at the end", arguments: 1...5)
  func oneThread(count: Int) {
    let pool = ChunkPool(budget: .bytes(100))
    let chunks = Self.ring(of: count, in: [pool])
    let labels = (0..<count).map(String.init) + ["0"]
    #expect(outcome { try chunks[0].ensureReady() } == .recursive(labels))
    Self.check(chunks, [pool])
  }

  @Test("one thread: what leads to the ring is not on it")
  func tail() {
    let pool = ChunkPool(budget: .bytes(100))
    let chunks = Self.ring(of: 2, in: [pool])
    let first = TrackedChunk(in: pool, label: "first", size: 2)
    first.hooks.generate = { _ in try chunks[0].ensureReady() }
    #expect(outcome { try first.ensureReady() } == .recursive(["0", "1", "0"]))
    Self.check(chunks + [first], [pool])
  }

  @Test("several threads: every one begins its chunk, then wants the next", arguments: [2, 3, 4], [1, 2])
  func threads(count: Int, poolCount: Int) async throws {
    for _ in 0..<20 {
      let pools = (0..<poolCount).map { _ in ChunkPool(budget: .bytes(100)) }
      let chunks = Self.ring(of: count, in: pools)
      let begun = Gate()
      for (index, chunk) in chunks.enumerated() {
        let next = chunks[(index + 1) % count]
        chunk.hooks.generate = { [unowned next] _ in
          begun.wait()
          try next.ensureReady()
        }
      }
      let opener = TestThread {
        begun.waitForArrivals(count)
        begun.open()
      }
      let outcomes = Locked([Outcome](repeating: .ready, count: count))
      try await noHang(onThreads: count) { index in
        let outcome = outcome { try chunks[index].ensureReady() }
        outcomes.withLock { $0[index] = outcome }
      }
      opener.join()
      // The one that closed the ring is told of it, and with it all who waited along the ring.
      for outcome in outcomes.current { #expect(outcome.isRing, "\(outcome)") }
      Self.check(chunks, pools)
    }
  }

  @Test("several threads: the ring is named, and nothing that only leads to it")
  func namesAcrossThreads() async throws {
    let pool = ChunkPool(budget: .bytes(100))
    let chunks = Self.ring(of: 2, in: [pool])
    let first = TrackedChunk(in: pool, label: "first", size: 2)
    let begun = Gate()
    // One thread makes "first" and in it "0"; another makes "1", which waits for "0".
    first.hooks.generate = { _ in try chunks[0].ensureReady() }
    chunks[0].hooks.generate = { [unowned next = chunks[1]] _ in
      begun.open()
      _ = eventually { pool._waiting == 1 }
      try next.ensureReady()
    }
    let outcomes = Locked([Outcome](repeating: .ready, count: 2))
    try await noHang(onThreads: 2) { index in
      if index == 1 { begun.wait() }
      let outcome = outcome { try (index == 0 ? first : chunks[1]).ensureReady() }
      outcomes.withLock { $0[index] = outcome }
    }
    #expect(outcomes.current[0] == .recursive(["0", "1", "0"]))
    Self.check(chunks + [first], [pool])
  }

  @Test("many rounds without a script: a ring, or one after the other", arguments: [1, 2])
  func unscripted(poolCount: Int) async throws {
    let pools = (0..<poolCount).map { _ in ChunkPool(budget: .bytes(100)) }
    let chunks = Self.ring(of: 3, in: pools)
    let wrong = Locked([Outcome]())
    let rounds = 2_000
    try await noHang(onThreads: 3) { index in
      for _ in 0..<rounds {
        let outcome = outcome { try chunks[index].ensureReady() }
        if !outcome.isRing { wrong.withLock { $0.append(outcome) } }
      }
    }
    #expect(wrong.current.isEmpty, "\(wrong.current.first.debugDescription)")
    Self.check(chunks, pools)
  }

  @Test("a ring through the threads of two pools, all of which wait")
  func workers() async throws {
    let near = ChunkPool(budget: .bytes(1_000))
    let far = ChunkPool(budget: .bytes(1_000))
    // More tasks than the near pool has threads, each making a chunk that needs the far one.
    let shared = TrackedChunk(in: far, label: "far", size: 1)
    let late = TrackedChunk(in: near, label: "late", size: 1)
    let early = (0..<64).map { TrackedChunk(in: near, label: "early \($0)", size: 1) }
    let begun = Gate()
    shared.hooks.generate = { _ in
      begun.open()
      // As many early ones as can have joined; then the late one is asked for, for which no thread is left.
      _ = eventually(within: 2) { far._waiting >= 64 }
      let asked = Locked(false)
      Task {
        asked.set(true)
        try await late.ensureReady()
      }
      _ = eventually { asked.current }
      try late.ensureReady()
    }
    for chunk in early { chunk.hooks.generate = { _ in try shared.ensureReady() } }
    let thread = TestThread { _ = outcome { try shared.ensureReady() } }
    begun.wait()
    let outcomes = Locked([Outcome]())
    try await noHangInTask {
      await withTaskGroup { group in
        for chunk in early {
          group.addTask {
            let outcome = await outcome { try await chunk.ensureReady() }
            outcomes.withLock { $0.append(outcome) }
          }
        }
      }
      thread.join()
    }
    #expect(outcomes.current == Array(repeating: .ready, count: early.count))
    Self.check(early + [late], [near])
    Self.check([shared], [far])
  }
}
