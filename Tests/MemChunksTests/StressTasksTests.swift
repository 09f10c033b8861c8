import MemChunks
import TestSupport
import Testing

/// Many tasks, and threads beside them, on one pool; tasks are cancelled at random.
@Suite("Stress: tasks", .timeLimit(.hang))
struct StressTasksTests {
  /// What a task does in one step. The chunk's value is its number, so that a mix-up shows.
  private static func step(
    _ pool: ChunkPool, _ plain: [TrackedChunk], _ values: [ValueChunk<[Int]>], _ random: inout SeededGenerator
  ) async throws {
    let chunk = plain.randomElement(using: &random)!
    let number = Int.random(in: 0..<values.count, using: &random)
    let value = values[number]
    let limit: Duration? = Int.random(in: 0..<10, using: &random) == 0 ? .microseconds(300) : nil
    switch Int.random(in: 0..<12, using: &random) {
    case 0, 1: try await chunk.withReady(waitingUpTo: limit) { precondition(chunk.isWhole) }
    case 2: try await chunk.ensureReady(waitingUpTo: limit)
    case 3, 4, 5: try await value.withReady(waitingUpTo: limit) { precondition($0 == [number, number]) }
    case 6:
      let pin = try await value.pin(waitingUpTo: limit)
      // The token crosses a suspension; the product must not.
      await Task.yield()
      precondition(pin.value() == [number, number])
    case 7:
      try await pool.withReady([chunk, value], waitingUpTo: limit) { precondition(chunk.isWhole) }
    case 8:
      let pins = try await pool.pin([chunk, value], waitingUpTo: limit)
      await Task.yield()
      precondition(chunk.isWhole)
      pins.unpin()
    case 9: value.update(size: Int.random(in: 1...12, using: &random)) { [number, number] }
    case 10: _ = await pool.prefetch([chunk, value]).readied
    default: chunk.invalidate()
    }
  }

  @Test("tasks at random, many of them cancelled, beside threads", arguments: [nil, 1])
  func tasks(generationLimit: Int?) async throws {
    let seed = Stress.seed("tasks")
    let pool = ChunkPool(budget: .bytes(60))
    pool.generationLimit = generationLimit
    let tally = ByteTally()
    let plain = (0..<12).map { TrackedChunk(in: pool, label: "plain \($0)", size: 1 + $0, tally: tally) }
    let values = (0..<12).map { number in
      ValueChunk(in: pool, label: "value \(number)", size: 1 + number) { [number, number] }
    }
    for index in 0..<4 {
      plain[index * 3].hooks.generate = { chunk in
        // A long one that saves the work when nobody wants it any more.
        for _ in 0..<20 where !chunk.isWanted { throw Mishap(index) }
      }
    }
    let odd = Locked<[Outcome]>([])
    let sampler = sampler(of: pool)
    async let threads: Void = noHang(onThreads: 2) { index in
      var random = SeededGenerator(seed: seed &+ 1_000 &+ UInt64(index))
      for _ in 0..<Stress.rounds(2_000) {
        let chunk = plain.randomElement(using: &random)!
        let outcome = outcome { try chunk.withReady { precondition(chunk.isWhole) } }
        if !Stress.allows(outcome) { odd.withLock { $0.append(outcome) } }
      }
    }
    async let tasks: Void = noHangInTask {
      await withTaskGroup { group in
        for index in 0..<8 {
          group.addTask {
            var random = SeededGenerator(seed: seed &+ UInt64(index))
            for _ in 0..<Stress.rounds(600) {
              let own = SeededGenerator(seed: random.next())
              let task = Task {
                var random = own
                return await outcome { try await Self.step(pool, plain, values, &random) }
              }
              if Int.random(in: 0..<3, using: &random) == 0 {
                for _ in 0..<Int.random(in: 0..<4, using: &random) { await Task.yield() }
                task.cancel()
              }
              let ending = await task.value
              if !Stress.allows(ending) { odd.withLock { $0.append(ending) } }
            }
          }
        }
      }
    }
    _ = try await (threads, tasks)
    sampler.stop()
    #expect(odd.current.isEmpty, "seed \(seed): \(odd.current.prefix(3))")
    for chunk in plain { chunk.hooks = .init() }
    checkNothingIsLeft(of: pool)
    #expect(tally.bytes == 0)
    #expect(tally.peak <= 60)
  }

  @Test("the pool's threads come and go while there is work now and then, and none of it is lost")
  func workersComeAndGo() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    pool._workerPatience = 20_000
    let chunks = pool.tracked(2, of: 10)
    let seed = Stress.seed("workers")
    try await noHangInTask {
      var random = SeededGenerator(seed: seed)
      for round in 0..<Stress.rounds(20_000) {
        try! await chunks[round % 2].ensureReady()
        // About as long as an idle thread stays: it leaves just when there is something to do.
        Stress.pause(microseconds: UInt32.random(in: 0..<120, using: &random))
        pool._checkInvariants()
      }
    }
    keep(chunks)
    pool._checkInvariants()
  }

  @Test("pools come and go while tasks and threads use them")
  func pools() async throws {
    let seed = Stress.seed("pools")
    let odd = Locked<[Outcome]>([])
    for round in 0..<Stress.rounds(60) {
      let box = Locked<ChunkPool?>(ChunkPool(budget: .bytes(20)))
      let chunks = (0..<6).map { TrackedChunk(in: box.current!, label: "\($0)", size: 3 + $0) }
      async let threads: Void = noHang(onThreads: 2) { index in
        var random = SeededGenerator(seed: seed &+ UInt64(round * 10 + index))
        while true {
          let chunk = chunks.randomElement(using: &random)!
          let outcome = outcome { try chunk.withReady { precondition(chunk.isWhole) } }
          if outcome == .closed(afterFork: false) { return }
          if !Stress.allows(outcome) { odd.withLock { $0.append(outcome) } }
        }
      }
      async let tasks: Void = noHangInTask {
        await withTaskGroup { group in
          for index in 2..<5 {
            group.addTask {
              var random = SeededGenerator(seed: seed &+ UInt64(round * 10 + index))
              while true {
                let chunk = chunks.randomElement(using: &random)!
                let outcome = await outcome { try await chunk.withReady { precondition(chunk.isWhole) } }
                if outcome == .closed(afterFork: false) { return }
                if !Stress.allows(outcome) { odd.withLock { $0.append(outcome) } }
              }
            }
          }
          group.addTask {
            for _ in 0..<round { await Task.yield() }
            box.set(nil)
          }
        }
      }
      _ = try await (threads, tasks)
      for chunk in chunks {
        #expect(!chunk.hasProduct)
        #expect(chunk.generations == chunk.frees)
      }
    }
    #expect(odd.current.isEmpty, "seed \(seed): \(odd.current.prefix(3))")
  }
}
