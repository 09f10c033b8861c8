import MemChunks
import TestSupport
import Testing

@Suite("Freeing: when bytes leave the count, and exactly once")
struct FreeingTests {
  /// The ways in which a ready chunk of an otherwise empty pool of 10 bytes goes.
  enum Way: CaseIterable {
    case room, budget, keepLimit, freeAll, trim, unused, discard, invalidate, pressure, groupLimit

    func take(_ pool: ChunkPool, _ group: ChunkGroup, _ chunk: MemChunk) throws {
      switch self {
      case .room: try pool.tracked("other", 9).withReady {}
      case .budget: pool.budget = .bytes(0)
      case .keepLimit: pool.keepLimit = .bytes(0)
      case .freeAll: pool.freeAll()
      case .trim: pool.trim(to: .bytes(1))
      case .unused: pool.free(unusedFor: .zero)
      case .discard: chunk.discard()
      case .invalidate: chunk.invalidate()
      case .pressure: pool.report(.critical)
      case .groupLimit: group.limit = .bytes(3)
      }
    }
  }

  @Test("Case 14: bytes come off only after free() has returned", arguments: Way.allCases)
  func countedUntilFreed(way: Way) throws {
    let pool = ChunkPool(budget: .bytes(10))
    let group = ChunkGroup(in: pool, label: "g")
    let seen = Locked<[Int]>([])
    let chunk = pool.tracked("a", 4, group: group)
    let look: @Sendable (TrackedChunk) -> Void = { [weak pool] _ in
      let numbers = pool!.statistics
      seen.withLock { $0.append(numbers.freeing) }
      #expect(numbers.used >= 4 && numbers.used <= 10 && numbers.ready == 0)
    }
    chunk.hooks.free = look
    chunk.hooks.freed = look
    try chunk.ensureReady()
    try way.take(pool, group, chunk)
    #expect(seen.current == [4, 4])
    #expect(group.totals.freeing == 0 && group.totals.ready == 0 && pool.statistics.freeing == 0)
    #expect(!chunk.isReady && chunk.frees == 1)
    pool._checkInvariants()
  }

  @Test("Case 14: bytes handed back late stay counted until they are, and the chunk can be generated beside them")
  func lateBytes() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let late = Locked<[LateFree]>([])
    let chunk = pool.tracked("a", 4)
    chunk.hooks.free = { chunk in late.withLock { $0.append(chunk.deferFree()) } }
    try chunk.ensureReady()
    chunk.discard()
    #expect(!chunk.isReady && pool.used.bytes == 4 && pool.statistics.freeing == 4)
    pool._checkInvariants()
    try chunk.ensureReady()
    #expect(pool.used.bytes == 8 && pool.statistics.ready == 4)
    // A third would be above the budget, and nobody knows how long the late bytes take.
    chunk.discard()
    let numbers = try #require(refusal { try chunk.ensureReady(waitingUpTo: .zero) })
    #expect(numbers.freeing == 8 && numbers.free == 2 && numbers.reason == .deadline)
    late.current[1].finish()
    late.current[1].finish()
    #expect(pool.used.bytes == 4)
    try chunk.ensureReady()
    late.withLock { $0[0].finish() }
    late.set([])
    #expect(pool.used.bytes == 4 && pool.statistics.freeing == 0)
    pool._checkInvariants()
  }

  @Test("Case 14: a part that is late, one that is finished inside free(), and one that is dropped")
  func lateParts() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let late = Locked<LateFree?>(nil)
    let chunk = pool.tracked("a", 6)
    chunk.hooks.free = { late.set($0.deferFree(2)) }
    try chunk.ensureReady()
    chunk.discard()
    #expect(pool.used.bytes == 2)
    late.set(nil)
    #expect(pool.used.bytes == 0)
    chunk.hooks.free = { chunk in
      let part = chunk.deferFree(100)
      part.finish()
    }
    try chunk.ensureReady()
    chunk.discard()
    #expect(pool.used.bytes == 0)
    // More than there is counts as all of it.
    chunk.hooks.free = { late.set($0.deferFree(100)) }
    try chunk.ensureReady()
    chunk.discard()
    #expect(pool.used.bytes == 6)
    late.current?.finish()
    #expect(pool.used.bytes == 0)
    pool._checkInvariants()
  }

  @Test("Case 14: a waiting request gets the room of late bytes when they come back")
  func waitingForLateBytes() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let late = Locked<LateFree?>(nil)
    let first = pool.tracked("a", 8)
    first.hooks.free = { late.set($0.deferFree()) }
    try first.ensureReady()
    first.discard()
    let second = pool.tracked("b", 5)
    let thread = TestThread { try! second.ensureReady() }
    #expect(!second.isReady)
    late.current?.finish()
    thread.join()
    #expect(second.isReady && pool.used.bytes == 5)
    pool._checkInvariants()
  }

  @Test("Case 15: when the pool goes, every ready chunk is freed exactly once")
  func poolDropped() throws {
    let tally = ByteTally()
    var pool: ChunkPool? = ChunkPool(budget: .bytes(100))
    let group = ChunkGroup(in: pool!, label: "g")
    let chunks = pool!.tracked(10, of: 5, tally: tally) + pool!.tracked(5, of: 0, "z", group: group, tally: tally)
    for chunk in chunks { try chunk.ensureReady() }
    chunks[3].discard()
    let never = pool!.tracked("never", 5, tally: tally)
    pool = nil
    #expect(chunks.allSatisfy { $0.generations == 1 && $0.frees == 1 && !$0.isReady })
    #expect(never.generations == 0 && never.frees == 0 && tally.bytes == 0)
    guard case .poolClosed("c0", false)? = chunkError({ try chunks[0].ensureReady() }) else {
      Issue.record("a closed pool still generates")
      return
    }
    chunks[0].invalidate()
    chunks[0].discard()
    #expect(chunks[0].generations == 1)
  }

  @Test("Case 15: what is in use when the pool goes is freed when that use ends")
  func poolDroppedInUse() throws {
    var pool: ChunkPool? = ChunkPool(budget: .bytes(100))
    let chunks = pool!.tracked(4, of: 5)
    for chunk in chunks { try chunk.ensureReady() }
    let pin = try chunks[0].pin()
    let frame = pool!.beginFrame()
    try chunks[1].ensureReady()
    try chunks[2].withReady {
      pool = nil
      #expect(chunks[2].isReady && chunks[0].isReady)
      #expect(!chunks[3].isReady)
    }
    #expect(chunks[2].frees == 1 && chunks[0].frees == 0)
    pin.unpin()
    frame.end()
    #expect(chunks.allSatisfy { $0.generations == 1 && $0.frees == 1 })
  }

  @Test("Case 16: when the last reference to a ready chunk goes, its bytes come back at once", arguments: [0, 4])
  func lastReference(size: Int) throws {
    let pool = ChunkPool(budget: .bytes(10))
    let log = ChunkLog()
    let tally = ByteTally()
    for _ in 0..<5 {
      var chunk: TrackedChunk? = pool.tracked("a", size, log: log, tally: tally)
      try chunk!.ensureReady()
      #expect(pool.used.bytes == size)
      chunk = nil
      #expect(pool.used.bytes == 0 && tally.bytes == 0)
      #expect(log.take().map(\.description) == ["+a", "-a"])
      pool._checkInvariants()
    }
    #expect(pool.statistics.chunks == 0 && pool.statistics.frees == 5)
  }

  @Test("Case 16: a pin or a scope is a reference; an empty chunk that goes frees nothing")
  func lastReferenceInUse() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let log = ChunkLog()
    var chunk: TrackedChunk? = pool.tracked("a", 4, log: log)
    let pin = try chunk!.pin()
    chunk = nil
    #expect(pool.used.bytes == 4 && log.freed.isEmpty)
    pin.unpin()
    #expect(pool.used.bytes == 0 && log.freed == ["a"])
    chunk = pool.tracked("b", 4, log: log)
    chunk = nil
    chunk = pool.tracked("c", 4, log: log)
    try chunk!.ensureReady()
    chunk!.discard()
    chunk = nil
    #expect(log.freed == ["a", "c"] && log.generated == ["a", "c"])
    pool._checkInvariants()
  }

  @Test("Case 16: values, buffers and old products of invalidated chunks come back too")
  func lastReferenceOtherKinds() throws {
    final class Witness: Sendable {
      let tally: ByteTally
      init(_ tally: ByteTally) {
        self.tally = tally
        tally.add(1)
      }
      deinit { tally.add(-1) }
    }
    let pool = ChunkPool(budget: .kilobytes(64))
    let tally = ByteTally()
    do {
      let value = ValueChunk(in: pool, size: 10) { Witness(tally) }
      let pin = try value.pin()
      value.invalidate()
      try value.ensureReady()
      #expect(tally.bytes == 2 && pool.used.bytes == 20)
      pin.unpin()
      #expect(tally.bytes == 1 && pool.used.bytes == 10)
      let buffer = BufferChunk(in: pool, size: 5_000) { _ in }
      try buffer.ensureReady()
      #expect(pool.statistics.ready > 5_000)
    }
    #expect(tally.bytes == 0 && pool.statistics.ready == 0 && pool.statistics.chunks == 0)
    pool._checkInvariants()
  }
}
