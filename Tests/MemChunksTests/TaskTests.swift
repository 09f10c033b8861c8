import MemChunks
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Case 42: tasks suspend and never block a thread of the cooperative pool.
@Suite("Tasks", .timeLimit(.hang))
struct TaskTests {
  /// Which thread this is.
  private static var threadNumber: UInt { UInt(bitPattern: pthread_self().hashValue) }

  @Test("Case 42: far more tasks wait than there are cooperative threads, and other tasks still run")
  func suspends() async throws {
    let pool = ChunkPool(budget: .bytes(1_000))
    let isSlow = Gate()
    let slow = (0..<2).map { TrackedChunk(in: pool, label: "slow \($0)", size: 10) }
    for chunk in slow { chunk.hooks.generate = { _ in isSlow.wait() } }
    let ran = ByteTally()
    try await noHangInTask {
      await withTaskGroup { group in
        for index in 0..<64 {
          group.addTask { try! await slow[index % 2].withReady { precondition(slow[index % 2].isWhole) } }
        }
        group.addTask {
          // Runs although all of the others wait; they are let go only when it has.
          while pool._waiting < 62 { await Task.yield() }
          ran.add(1)
          isSlow.open()
        }
      }
    }
    #expect(ran.bytes == 1)
    #expect(slow.allSatisfy { $0.generations == 1 })
    checkNothingIsLeft(of: pool)
  }

  @Test("Case 42: generating and freeing for tasks runs on threads of the pool's own")
  func ownThreads() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let cooperative = Locked<Set<UInt>>([])
    let working = Locked<Set<UInt>>([])
    let note: @Sendable (TrackedChunk) -> Void = { _ in working.withLock { _ = $0.insert(Self.threadNumber) } }
    let chunks = (0..<4).map { TrackedChunk(in: pool, label: "\($0)", size: 6) }
    for chunk in chunks {
      chunk.hooks.generate = note
      chunk.hooks.free = note
    }
    try await noHangInTask {
      await withTaskGroup { group in
        for index in 0..<8 {
          group.addTask {
            for round in 0..<50 {
              try! await chunks[(index + round) % 4].withReady {
                cooperative.withLock { _ = $0.insert(Self.threadNumber) }
              }
            }
          }
        }
      }
    }
    #expect(!cooperative.current.isEmpty && !working.current.isEmpty)
    #expect(cooperative.current.isDisjoint(with: working.current))
    for chunk in chunks { chunk.hooks = .init() }
    checkNothingIsLeft(of: pool)
  }

  @Test("Case 42: a cancelled task stops waiting, and the generation still serves the others")
  func cancelled() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunk = TrackedChunk(in: pool, label: "chunk", size: 6)
    let isSlow = Gate()
    chunk.hooks.generate = { _ in isSlow.wait() }
    try await noHangInTask {
      let patient = Task { await outcome { try await chunk.ensureReady() } }
      while chunk.generations == 0 { await Task.yield() }
      let impatient = (0..<5).map { _ in Task { await outcome { try await chunk.withReady {} } } }
      while pool._waiting < 5 { await Task.yield() }
      for task in impatient { task.cancel() }
      for task in impatient { #expect(await task.value == .cancelled(atDeadline: false)) }
      // They have gone, and it is still being made.
      #expect(pool._waiting == 0 && !chunk.isReady)
      isSlow.open()
      #expect(await patient.value == .ready)
    }
    #expect(chunk.generations == 1 && chunk.isReady)
    #expect(pool.statistics.pinned == 0)
    checkNothingIsLeft(of: pool)
  }

  @Test("Case 42: a product that was made for a cancelled task is kept for the next")
  func keptForTheNext() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunk = TrackedChunk(in: pool, label: "chunk", size: 6)
    let isSlow = Gate()
    let wanted = Locked<[Bool]>([])
    chunk.hooks.generate = { chunk in
      isSlow.wait()
      wanted.withLock { $0.append(chunk.isWanted) }
    }
    try await noHangInTask {
      let task = Task { await outcome { try await chunk.withReady {} } }
      while chunk.generations == 0 { await Task.yield() }
      task.cancel()
      #expect(await task.value == .cancelled(atDeadline: false))
      isSlow.open()
      try! await chunk.withReady { #expect(chunk.isWhole) }
    }
    #expect(chunk.generations == 1)
    #expect(wanted.current.count == 1)
    #expect(pool.statistics.pinned == 0)
    checkNothingIsLeft(of: pool)
  }

  @Test("Case 42: nothing is held for a cancelled task when others learn that the product is there")
  func nothingIsHeldForTheCancelled() async throws {
    let pool = ChunkPool(budget: .bytes(20))
    let chunk = TrackedChunk(in: pool, label: "chunk", size: 6)
    let held = ValueChunk(in: pool, label: "held", size: 6) { 7 }
    try await held.ensureReady()
    let isSlow = Gate()
    chunk.hooks.generate = { _ in isSlow.wait() }
    let pinned = Locked<[Int]>([])
    pool.observe { [unowned pool] event in
      if case .generated = event { pinned.withLock { $0.append(pool.statistics.pinned) } }
    }
    try await noHangInTask {
      let task = Task { await outcome { try await pool.withReady([held, chunk]) {} } }
      while chunk.generations == 0 { await Task.yield() }
      #expect(pool.statistics.pinned == 6)
      task.cancel()
      #expect(await task.value == .cancelled(atDeadline: false))
      #expect(pool.statistics.pinned == 0)
      isSlow.open()
      try! await chunk.ensureReady()
      // The observer hears of it after those who waited.
      while pinned.current.isEmpty { await Task.yield() }
    }
    pool.observe(nil)
    #expect(pinned.current == [0])
    checkNothingIsLeft(of: pool)
  }

  @Test("Case 42: a hit in a task suspends nowhere and is not cancelled")
  func hits() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let value = ValueChunk(in: pool, label: "value", size: 6) { 7 }
    try await value.ensureReady()
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await value.withReady { $0 + 0 }
    }
    task.cancel()
    #expect(try await task.value == 7)
    checkNothingIsLeft(of: pool)
  }

  @Test("Case 42: tokens cross suspensions and threads")
  func tokensCross() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let buffer = BufferChunk(in: pool, label: "empty", size: 0) { _ in }
    let value = ValueChunk(in: pool, label: "value", size: 6) { 7 }
    try await noHangInTask {
      let pin = try! await value.pin()
      let set = try! await pool.pin([value, buffer])
      for _ in 0..<20 { await Task.yield() }
      pool.freeAll()
      #expect(pin.value() == 7)
      let other = TrackedChunk(in: pool, label: "other", size: 6)
      #expect(await outcome { try await other.ensureReady() } == .noRoom(.heldByTokens))
      pin.unpin()
      #expect(value.isReady)
      set.unpin()
      #expect(!value.isReady)
    }
    checkNothingIsLeft(of: pool)
  }
}
