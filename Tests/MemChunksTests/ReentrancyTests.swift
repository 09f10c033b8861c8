import MemChunks
import TestSupport
import Testing

/// Cases 39 to 41: the pool used from inside the code that it runs, and from inside scopes.
@Suite("Reentrancy", .timeLimit(.hang))
struct ReentrancyTests {
  /// Everything that a pool offers, short of waiting.
  private static func useAll(of pool: ChunkPool, _ other: TrackedChunk) {
    _ = pool.used
    _ = pool.statistics
    _ = pool.snapshot()
    _ = "\(pool)"
    _ = outcome { try other.ensureReady() }
    _ = outcome { try other.withReady {} }
    _ = outcome { try pool.withReady([other]) {} }
    _ = outcome { _ = try other.pin() }
    other.invalidate()
    other.discard()
    let passing = TrackedChunk(in: pool, label: "passing", size: 1)
    _ = outcome { try passing.ensureReady() }
    let group = ChunkGroup(in: pool, label: "passing", limit: .bytes(5))
    group.limit = nil
    pool.frame { _ = outcome { try other.ensureReady() } }
    pool.beginFrame().end()
    pool.trim(to: .bytes(50))
    pool.free(unusedFor: .seconds(1))
    pool.report(.warning)
    pool.report(.normal)
    pool.keepLimit = .bytes(90)
    pool.keepLimit = nil
    pool.budget = .bytes(90)
    pool.budget = .bytes(100)
    pool.generationLimit = 3
    pool.generationLimit = nil
    pool.prefetch([passing])
    pool.freeAll()
    pool._checkInvariants()
  }

  @Test("Case 39: size, generate(), free() and an observer use everything that the pool offers", arguments: 0..<5)
  func everything(place: Int) async throws {
    let pool = ChunkPool(budget: .bytes(100))
    let other = TrackedChunk(in: pool, label: "other", size: 10)
    let chunk = TrackedChunk(in: pool, label: "chunk", size: 10)
    let depth = ByteTally()
    let use: @Sendable () -> Void = {
      // Once: what it does may lead here again.
      depth.add(1)
      if depth.bytes == 1 { Self.useAll(of: pool, other) }
    }
    switch place {
    case 0: chunk.hooks.size = { _ in use() }
    case 1: chunk.hooks.generate = { _ in use() }
    case 2: chunk.hooks.generated = { _ in use() }
    case 3: chunk.hooks.free = { _ in use() }
    default: pool.observe { _ in use() }
    }
    try await noHang { _ in
      for _ in 0..<3 {
        try! chunk.withReady { precondition(chunk.isWhole) }
        pool.freeAll()
      }
    }
    #expect(depth.bytes > 0)
    chunk.hooks = .init()
    pool.observe(nil)
    checkNothingIsLeft(of: pool)
  }

  @Test("Case 39: size readies another chunk")
  func sizeNeedsAnother() async throws {
    let pool = ChunkPool(budget: .bytes(20))
    let header = ValueChunk(in: pool, label: "header", size: 2) { 12 }
    let seen = Locked<[Int]>([])
    let chunk = TrackedChunk(in: pool, label: "chunk", size: 12)
    chunk.hooks.size = { _ in
      let size = try! header.withReady { $0 + 0 }
      seen.withLock { $0.append(size) }
    }
    try await noHang { _ in try! chunk.ensureReady() }
    #expect(!seen.current.isEmpty && seen.current.allSatisfy { $0 == 12 })
    chunk.hooks.size = nil
    checkNothingIsLeft(of: pool)
  }

  @Test("Case 39: the last reference to a chunk goes inside generate() and free() of another")
  func dropsInside() async throws {
    let pool = ChunkPool(budget: .bytes(20))
    let frees = ByteTally()
    let box = Locked<TrackedChunk?>(nil)
    let chunk = TrackedChunk(in: pool, label: "chunk", size: 10)
    chunk.hooks.generate = { _ in box.set(nil) }
    chunk.hooks.free = { _ in box.set(nil) }
    try await noHang { _ in
      for _ in 0..<4 {
        box.set(TrackedChunk(in: pool, label: "passing", size: 6, tally: frees))
        try! box.current!.ensureReady()
        try! chunk.ensureReady()
        precondition(frees.bytes == 0)
        box.set(TrackedChunk(in: pool, label: "passing", size: 6, tally: frees))
        try! box.current!.ensureReady()
        pool.freeAll()
        precondition(frees.bytes == 0)
      }
    }
    chunk.hooks = .init()
    checkNothingIsLeft(of: pool)
  }

  @Test("Case 40: generate(a) readies b: b never evicts a, and a's reservation stands")
  func nested() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let inner = TrackedChunk(in: pool, label: "b", size: 4)
    let large = TrackedChunk(in: pool, label: "large", size: 6)
    let outer = TrackedChunk(in: pool, label: "a", size: 6)
    outer.hooks.generate = { _ in
      #expect(pool.statistics.reserved == 6)
      try inner.ensureReady()
      #expect(pool.statistics.reserved == 6 && pool.statistics.ready == 4)
      #expect(outcome { try large.ensureReady() } == .noRoom(.holdsOthers))
      // Looking first: nothing was freed for what could not fit.
      #expect(inner.isReady)
    }
    try outer.ensureReady()
    #expect(outer.isWhole && inner.isWhole)
    #expect(pool.used == .bytes(10))
    #expect(outer.generations == 1 && inner.generations == 1)
    checkNothingIsLeft(of: pool)
  }

  @Test("Case 40: b larger than what a leaves: a's generate fails with the numbers, and nothing stays reserved")
  func nestedTooLarge() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let inner = TrackedChunk(in: pool, label: "b", size: 5)
    let outer = TrackedChunk(in: pool, label: "a", size: 6)
    outer.hooks.generate = { _ in try inner.ensureReady() }
    var numbers: ChunkError.NoRoom?
    do { try outer.ensureReady() } catch {
      if case .generationFailed("a", let underlying) = error, case .noRoom(let found) = underlying as? ChunkError {
        numbers = found
      }
    }
    #expect(numbers?.label == "b" && numbers?.needed == 5 && numbers?.free == 4 && numbers?.reserved == 6)
    #expect(pool.used == .bytes(0))
    #expect(inner.generations == 0)
    checkNothingIsLeft(of: pool)
  }

  @Test("Case 40: a -> b -> a is reported as recursion, and neither is remembered as failed")
  func recursion() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let first = TrackedChunk(in: pool, label: "a", size: 2)
    let second = TrackedChunk(in: pool, label: "b", size: 2)
    first.hooks.generate = { _ in try second.ensureReady() }
    second.hooks.generate = { [unowned first] _ in try first.withReady {} }
    #expect(outcome { try first.ensureReady() } == .recursive(["a", "b", "a"]))
    #expect(pool.used == .bytes(0))
    second.hooks.generate = nil
    try first.ensureReady()
    #expect(first.isReady && second.isReady)
    checkNothingIsLeft(of: pool)
  }

  @Test("Case 40: a deep chain of generations, each with a reservation")
  func deepChain() throws {
    let pool = ChunkPool(budget: .bytes(100))
    let chunks = (0..<100).map { TrackedChunk(in: pool, label: "\($0)", size: 1) }
    for index in 0..<99 {
      chunks[index].hooks.generate = { [unowned next = chunks[index + 1]] _ in try next.ensureReady() }
    }
    try chunks[0].ensureReady()
    #expect(chunks.allSatisfy { $0.generations == 1 && $0.isReady })
    #expect(pool.used == .bytes(100))
    keep(chunks)
    checkNothingIsLeft(of: pool)
  }

  @Test("Case 41: threads that each hold one scope and want another are refused, never stuck", arguments: 2...5)
  func holdAndWant(count: Int) async throws {
    let pool = ChunkPool(budget: .bytes(count * 10))
    let held = (0..<count).map { TrackedChunk(in: pool, label: "held \($0)", size: 10) }
    let wanted = (0..<count).map { TrackedChunk(in: pool, label: "wanted \($0)", size: 10) }
    let all = Gate()
    let tried = Gate()
    let outcomes = Locked<[Outcome]>([])
    try await noHang(onThreads: count + 1) { index in
      if index == count {
        all.waitForArrivals(count)
        all.open()
        tried.waitForArrivals(count)
        tried.open()
        return
      }
      try! held[index].withReady {
        all.wait()
        let outcome = outcome { try wanted[index].withReady {} }
        outcomes.withLock { $0.append(outcome) }
        tried.wait()
        precondition(held[index].isWhole)
      }
      // Holding nothing, it waits and gets it.
      try! wanted[index].withReady { precondition(wanted[index].isWhole) }
    }
    #expect(outcomes.current == Array(repeating: .noRoom(.holdsOthers), count: count))
    checkNothingIsLeft(of: pool)
  }

  @Test("Case 41: withReady([a, b]) gets both, or waits holding neither")
  func bothOrNeither() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunks = ["a", "b", "c"].map { TrackedChunk(in: pool, label: $0, size: 5) }
    let isHeld = Gate()
    try await noHang(onThreads: 2) { index in
      if index == 0 {
        try! chunks[2].withReady {
          isHeld.open()
          _ = eventually { pool._waiting == 1 }
          // The other waits for room for both and holds none of what is ready.
          precondition(pool.statistics.pinned == 5)
          try! chunks[0].withReady {}
        }
      } else {
        isHeld.wait()
        try! chunks[0].ensureReady()
        try! pool.withReady(Array(chunks[0...1])) { precondition(chunks[0].isWhole && chunks[1].isWhole) }
      }
    }
    checkNothingIsLeft(of: pool)
  }
}
