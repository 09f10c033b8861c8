import MemChunks
import TestSupport
import Testing

/// Cases 37 and 38: many want one chunk.
@Suite("Threads", .timeLimit(.hang))
struct ThreadTests {
  @Test("Case 37: sixteen threads, one generation")
  func sixteen() async throws {
    let pool = ChunkPool(budget: .bytes(100))
    let chunk = TrackedChunk(in: pool, label: "chunk", size: 60)
    let rounds = Stress.rounds(1_000)
    let arrived = (0..<rounds).map { _ in ByteTally() }
    let gone = (0..<rounds).map { _ in ByteTally() }
    let seen = ByteTally()
    try await noHang(onThreads: 16) { index in
      for round in 0..<rounds {
        // All of them begin a round together, and nobody empties the chunk before all have seen it.
        arrived[round].add(1)
        while arrived[round].bytes < 16 { yieldThread() }
        try! chunk.withReady { if chunk.isWhole { seen.add(1) } }
        gone[round].add(1)
        if index == 0 {
          while gone[round].bytes < 16 { yieldThread() }
          precondition(chunk.generations == round + 1, "\(chunk.generations) generations in round \(round)")
          chunk.discard()
          gone[round].add(1)
        } else {
          while gone[round].bytes < 17 { yieldThread() }
        }
      }
    }
    #expect(seen.bytes == 16 * rounds)
    #expect(pool.statistics.peak == 60)
    #expect(chunk.generations == rounds)
    checkNothingIsLeft(of: pool)
  }

  @Test("Case 37: sixteen threads that come while it is generated, in every way of asking")
  func whileGenerating() async throws {
    let pool = ChunkPool(budget: .bytes(100))
    let chunk = TrackedChunk(in: pool, label: "chunk", size: 60)
    let other = TrackedChunk(in: pool, label: "other", size: 10)
    chunk.hooks.generate = { _ in _ = eventually { pool._waiting == 15 } }
    let seen = ByteTally()
    try await noHang(onThreads: 16) { index in
      let outcome = outcome {
        switch index % 5 {
        case 0: try chunk.ensureReady()
        case 1: try chunk.withReady { precondition(chunk.isWhole) }
        case 2:
          let pin = try chunk.pin()
          precondition(pin.chunk.isWhole)
        case 3: try pool.withReady([chunk, other]) { precondition(chunk.isWhole && other.isWhole) }
        default:
          let pins = try pool.pin([other, chunk])
          precondition(pins.chunks.count == 2 && chunk.isWhole)
        }
      }
      if outcome == .ready { seen.add(1) }
    }
    #expect(seen.bytes == 16)
    #expect(chunk.generations == 1)
    #expect(other.generations == 1)
    #expect(pool.statistics.peak <= 70)
    checkNothingIsLeft(of: pool)
  }

  @Test("Case 37: threads want different chunks of one set: one generation each")
  func oneSet() async throws {
    let pool = ChunkPool(budget: .bytes(100))
    let chunks = (0..<10).map { TrackedChunk(in: pool, label: "\($0)", size: 10) }
    try await noHang(onThreads: 8) { index in
      for step in 0..<10 {
        let chunk = chunks[(index * 3 + step * 7) % 10]
        try! chunk.withReady { precondition(chunk.isWhole) }
      }
    }
    #expect(chunks.allSatisfy { $0.generations == 1 })
    #expect(pool.statistics.peak == 100)
    checkNothingIsLeft(of: pool)
  }

  @Test("Case 38: all who waited get the same error, nothing is remembered, the next call tries once")
  func failure() async throws {
    let pool = ChunkPool(budget: .bytes(100))
    let chunk = TrackedChunk(in: pool, label: "chunk", size: 60)
    for round in 1...3 {
      chunk.hooks.generate = { _ in
        _ = eventually { pool._waiting == 7 }
        throw Mishap(round)
      }
      let outcomes = Locked<[Outcome]>([])
      try await noHang(onThreads: 8) { index in
        let outcome = outcome {
          switch index % 3 {
          case 0: try chunk.ensureReady()
          case 1: try chunk.withReady { precondition(false, "there is no product") }
          default: try pool.withReady([chunk]) { precondition(false, "there is no product") }
          }
        }
        outcomes.withLock { $0.append(outcome) }
      }
      #expect(outcomes.current == Array(repeating: .failed(.other("\(Mishap(round))")), count: 8))
      #expect(chunk.generations == round)
      #expect(pool.used == .bytes(0))
      #expect(pool.statistics.failures == round)
    }
    chunk.hooks.generate = nil
    try await chunk.ensureReady()
    #expect(chunk.generations == 4)
    checkNothingIsLeft(of: pool)
  }

  @Test("Case 38: tasks and threads together get the same error")
  func failureOfTasks() async throws {
    let pool = ChunkPool(budget: .bytes(100))
    let chunk = TrackedChunk(in: pool, label: "chunk", size: 60)
    chunk.hooks.generate = { _ in
      _ = eventually { pool._waiting == 5 }
      throw Mishap(7)
    }
    let outcomes = Locked<[Outcome]>([])
    async let threads: Void = noHang(onThreads: 3) { _ in
      let outcome = outcome { try chunk.ensureReady() }
      outcomes.withLock { $0.append(outcome) }
    }
    async let tasks: Void = noHangInTask {
      await withTaskGroup { group in
        for _ in 0..<3 {
          group.addTask {
            let ending = await outcome { try await chunk.withReady {} }
            outcomes.withLock { $0.append(ending) }
          }
        }
      }
    }
    _ = try await (threads, tasks)
    #expect(outcomes.current == Array(repeating: .failed(.other("\(Mishap(7))")), count: 6))
    #expect(chunk.generations == 1)
    checkNothingIsLeft(of: pool)
  }

  @Test("Case 38: one of several fails: the others of that request are not held, and what was made stays ready")
  func failureOfOne() throws {
    let pool = ChunkPool(budget: .bytes(100))
    let chunks = (0..<4).map { TrackedChunk(in: pool, label: "\($0)", size: 10) }
    chunks[2].hooks.generate = { _ in throw Mishap(2) }
    #expect(outcome { try pool.withReady(chunks) {} } == .failed(.other("\(Mishap(2))")))
    #expect(chunks.map { $0.isReady } == [true, true, false, false])
    #expect(pool.statistics.pinned == 0)
    #expect(pool.used == .bytes(20))
    chunks[2].hooks.generate = nil
    try pool.withReady(chunks) {}
    #expect(chunks.map { $0.generations } == [1, 1, 2, 1])
    checkNothingIsLeft(of: pool)
  }
}
