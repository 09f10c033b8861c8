import MemChunks
import TestSupport
import Testing

/// What was in use when it was to go, and goes later, says for what it went.
@Suite("Reasons of late departures")
struct DepartureTests {
  private static let causes: [(reason: FreeReason, free: @Sendable (ChunkPool, MemChunk) -> Void)] = [
    (.all, { pool, _ in pool.freeAll() }),
    (.trimmed, { pool, _ in pool.trim(to: .bytes(0)) }),
    (.discarded, { _, chunk in chunk.discard() }),
    (.limit, { pool, _ in pool.keepLimit = .bytes(0) }),
    (.limit, { pool, _ in pool.budget = .bytes(0) }),
    (.limit, { pool, _ in pool.report(.critical) }),
    (.limit, { _, chunk in chunk.group.limit = .bytes(0) }),
    (.invalidated, { _, chunk in chunk.invalidate() }),
  ]

  private static func reasons(
    _ number: Int, _ use: (ChunkPool, TrackedChunk, () -> Void) throws -> Void
  ) throws -> [FreeReason] {
    let pool = ChunkPool(budget: .bytes(10), time: ManualClock().read)
    let reasons = Locked<[FreeReason]>([])
    pool.observe { event in if case .freed(_, _, _, let reason) = event { reasons.withLock { $0.append(reason) } } }
    let group = ChunkGroup(in: pool, label: "g")
    let chunk = pool.tracked("a", 4, group: group)
    try use(pool, chunk) { causes[number].free(pool, chunk) }
    #expect(!chunk.isReady && chunk.frees == 1)
    pool._checkInvariants()
    return reasons.current
  }

  @Test("At the end of a scope", arguments: causes.indices)
  func scope(number: Int) throws {
    let reasons = try Self.reasons(number) { _, chunk, free in
      try chunk.withReady {
        free()
        #expect(chunk.frees == 0)
      }
    }
    #expect(reasons == [Self.causes[number].reason])
  }

  @Test("When a pin goes", arguments: causes.indices)
  func pin(number: Int) throws {
    let reasons = try Self.reasons(number) { _, chunk, free in
      let pin = try chunk.pin()
      free()
      #expect(chunk.frees == 0)
      pin.unpin()
    }
    #expect(reasons == [Self.causes[number].reason])
  }

  @Test("At the end of a frame", arguments: causes.indices)
  func frame(number: Int) throws {
    let reasons = try Self.reasons(number) { pool, chunk, free in
      try pool.frame {
        try chunk.ensureReady()
        free()
      }
    }
    #expect(reasons == [Self.causes[number].reason])
  }

  @Test("When the pool was closed under a pin")
  func closed() throws {
    var pool: ChunkPool? = ChunkPool(budget: .bytes(10))
    let reasons = Locked<[FreeReason]>([])
    pool!.observe { event in if case .freed(_, _, _, let reason) = event { reasons.withLock { $0.append(reason) } } }
    let chunk = pool!.tracked("a", 4)
    let pin = try chunk.pin()
    pool = nil
    #expect(chunk.frees == 0)
    pin.unpin()
    #expect(chunk.frees == 1 && reasons.current == [.closed])
  }

  @Test("Discarded while it was generated")
  func generating() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let reasons = Locked<[FreeReason]>([])
    pool.observe { event in if case .freed(_, _, _, let reason) = event { reasons.withLock { $0.append(reason) } } }
    let chunk = pool.tracked("a", 4)
    chunk.hooks.generate = { $0.discard() }
    try chunk.withReady {}
    #expect(reasons.current == [.discarded])
    // Nothing ends this use; it goes when the pool is next asked for something that is missing.
    try chunk.ensureReady()
    try pool.tracked("b", 1).ensureReady()
    #expect(reasons.current.prefix(2) == [.discarded, .discarded])
  }
}
