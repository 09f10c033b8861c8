import MemChunks
import TestSupport
import Testing

/// Chunks whose `size` asks other chunks.
@Suite("Rings through size", .timeLimit(.hang))
struct SizeRingTests {
  /// Links chunks in a ring by what their `size` uses, and collects how those uses ended.
  private static func ring(_ count: Int, in pool: ChunkPool) -> (chunks: [TrackedChunk], ends: Locked<[Outcome]>) {
    let chunks = pool.tracked(count, of: 1)
    let ends = Locked<[Outcome]>([])
    for number in 0..<count {
      chunks[number].hooks.size = { [unowned next = chunks[(number + 1) % count]] _ in
        let end = outcome { try next.withReady {} }
        ends.withLock { $0.append(end) }
      }
    }
    return (chunks, ends)
  }

  @Test("A ring through size is an error that names it", arguments: 1...4)
  func ring(count: Int) throws {
    let pool = ChunkPool(budget: .bytes(10))
    let (chunks, ends) = Self.ring(count, in: pool)
    // What the innermost use got is the chunk's to judge: here it says its size all the same.
    try chunks[0].withReady { #expect(chunks[0].isWhole) }
    let labels = chunks.map(\.label)
    #expect(ends.current.first == .recursive(labels + ["c0"]))
    for chunk in chunks { chunk.hooks = .init() }
    pool.freeAll()
    #expect(pool.used == .bytes(0) && chunks.allSatisfy { $0.frees == $0.generations })
    pool._checkInvariants()
  }

  @Test("A ring through size that a task runs into")
  func ringInTask() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let (chunks, ends) = Self.ring(2, in: pool)
    #expect(await outcome { () async throws in try await chunks[0].ensureReady() } == .ready)
    #expect(ends.current.first == .recursive(["c0", "c1", "c0"]))
    for chunk in chunks { chunk.hooks = .init() }
  }

  @Test("A ring that leads into another one's size only: what leads there is not in it")
  func tail() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let (chunks, ends) = Self.ring(2, in: pool)
    let first = pool.tracked("first", 1)
    first.hooks.size = { _ in try? chunks[0].ensureReady() }
    try first.ensureReady()
    #expect(ends.current.first == .recursive(["c0", "c1", "c0"]))
    for chunk in chunks { chunk.hooks = .init() }
    keep(chunks)
  }

  @Test("A ring of one that generates and one that says its size names both")
  func mixed() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let made = pool.tracked("made", 1), measured = pool.tracked("measured", 1)
    let ends = Locked<[Outcome]>([])
    made.hooks.generate = { _ in try measured.withReady {} }
    measured.hooks.size = { [unowned made] _ in
      let end = outcome { try made.withReady {} }
      ends.withLock { $0.append(end) }
    }
    try made.ensureReady()
    #expect(ends.current.first == .recursive(["made", "measured", "made"]))
    for chunk in [made, measured] { chunk.hooks = .init() }
    keep([made, measured])
  }

  @Test("Sizes that ask others without a ring, from several threads at once, are no ring")
  func noRing() {
    let pool = ChunkPool(budget: .bytes(10))
    let base = pool.tracked("base", 1)
    let chunks = pool.tracked(8, of: 1)
    let odd = Locked<[Outcome]>([])
    for chunk in chunks {
      chunk.hooks.size = { _ in
        let end = outcome { try base.withReady {} }
        if end != .ready, !end.isRefusal { odd.withLock { $0.append(end) } }
      }
    }
    onThreads(4) { _ in
      for _ in 0..<100 { for chunk in chunks { try? chunk.withReady {} } }
    }
    #expect(odd.current.isEmpty, "\(odd.current.prefix(3))")
    for chunk in chunks { chunk.hooks = .init() }
    pool._checkInvariants()
    keep(chunks + [base])
  }
}
