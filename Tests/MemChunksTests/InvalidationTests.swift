import MemChunks
import TestSupport
import Testing

/// Cases 43, 44 and 54: products that go out of date, or are not needed any more, while somebody has to do with them.
@Suite("Invalidation", .timeLimit(.hang))
struct InvalidationTests {
  @Test("Case 43: invalidated while it is generated: the old product is thrown away and never shown")
  func whileGenerating() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let edition = ByteTally()
    let isSlow = Gate()
    let freed = ByteTally()
    // A product that says which edition it was made from.
    let chunk = ValueChunk(in: pool, label: "chunk", size: 4) {
      let made = edition.bytes
      isSlow.wait()
      return Guarded(made) { freed.add(1) }
    }
    let seen = Locked<[Int]>([])
    try await noHang(onThreads: 4) { index in
      if index == 3 {
        isSlow.waitForArrivals()
        _ = eventually { pool._waiting == 2 }
        edition.add(1)
        chunk.invalidate()
        precondition(!chunk.isReady)
        isSlow.open()
        return
      }
      let made = try! chunk.withReady { $0.number }
      seen.withLock { $0.append(made) }
    }
    #expect(seen.current == [1, 1, 1])
    #expect(freed.bytes == 1)
    #expect(pool.statistics.generations == 2)
    checkNothingIsLeft(of: pool)
    #expect(freed.bytes == 2)
  }

  /// Says when it goes.
  private final class Guarded: Sendable {
    let number: Int
    let farewell: @Sendable () -> Void
    init(_ number: Int, _ farewell: @escaping @Sendable () -> Void) {
      self.number = number
      self.farewell = farewell
    }
    deinit { farewell() }
  }

  @Test("Case 43: the same for a chunk that owns its memory; from inside its own generate(), it is used once")
  func insideGenerate() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunk = TrackedChunk(in: pool, label: "chunk", size: 6)
    chunk.hooks.generate = { chunk in
      switch chunk.generations {
      case 1: TestThread { chunk.invalidate() }.join()
      case 2: chunk.invalidate()
      default: break
      }
    }
    try chunk.withReady {
      #expect(chunk.isWhole && chunk.generations == 2 && chunk.frees == 1)
      #expect(!chunk.isReady)
    }
    #expect(chunk.frees == 2)
    try chunk.withReady { #expect(chunk.isWhole && chunk.generations == 3 && chunk.isReady) }
    checkNothingIsLeft(of: pool)
    #expect(chunk.frees == 3)
  }

  @Test("Case 43: invalidated and at the same time failing, discarded or dropped")
  func withOthers() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunk = TrackedChunk(in: pool, label: "chunk", size: 6)
    chunk.hooks.generate = { chunk in
      chunk.invalidate()
      throw Mishap(1)
    }
    #expect(outcome { try chunk.ensureReady() } == .failed(.other("\(Mishap(1))")))
    #expect(pool.used == .bytes(0))
    chunk.hooks.generate = { chunk in
      chunk.discard()
      if chunk.generations == 2 { TestThread { chunk.invalidate() }.join() }
      if chunk.generations == 3 { chunk.invalidate() }
    }
    try chunk.withReady { #expect(chunk.isWhole && chunk.generations == 3) }
    #expect(!chunk.isReady)
    #expect(chunk.frees == 2)
    checkNothingIsLeft(of: pool)
  }

  @Test("Case 44: freeAll while it is generated: kept for who wants it, then freed once; others stay dropped")
  func freeAllWhileGenerating() async throws {
    let pool = ChunkPool(budget: .bytes(20))
    let chunk = TrackedChunk(in: pool, label: "chunk", size: 6)
    let other = TrackedChunk(in: pool, label: "other", size: 6)
    chunk.hooks.generate = { _ in
      pool.freeAll()
      #expect(!other.isReady && pool.used == .bytes(6))
    }
    try await noHang { _ in
      try! other.ensureReady()
      try! chunk.withReady { precondition(chunk.isWhole) }
      precondition(!other.isReady && other.frees == 1)
    }
    checkNothingIsLeft(of: pool)
    #expect(chunk.frees == 1)
  }

  @Test("Case 44: discarded while it is generated: whoever waits gets it, and it goes when they let go")
  func discardWhileGenerating() async throws {
    let pool = ChunkPool(budget: .bytes(20))
    let chunk = TrackedChunk(in: pool, label: "chunk", size: 6)
    chunk.hooks.generate = { chunk in
      _ = eventually { pool._waiting == 2 }
      chunk.discard()
    }
    let seen = ByteTally()
    try await noHang(onThreads: 3) { _ in try! chunk.withReady { if chunk.isWhole { seen.add(1) } } }
    #expect(seen.bytes == 3)
    #expect(!chunk.isReady)
    #expect(chunk.generations == 1 && chunk.frees == 1)
    checkNothingIsLeft(of: pool)
  }

  @Test("Case 44: discarded while it is generated, then freed: the pool does not keep it, nor it the pool")
  func discardedIsLetGo() throws {
    weak var handle: ChunkPool?
    weak var gone: TrackedChunk?
    do {
      let pool = ChunkPool(budget: .bytes(20))
      let chunk = TrackedChunk(in: pool, label: "chunk", size: 6)
      chunk.hooks.generate = { chunk in
        chunk.discard()
        #expect(pool.used == .bytes(6))
      }
      try chunk.withReady {}
      #expect(chunk.frees == 1)
      (handle, gone) = (pool, chunk)
    }
    #expect(gone == nil && handle == nil)
  }

  @Test("Case 54: a value is changed while in use: old users keep the old one, both are counted, the next sees the new")
  func changedInUse() throws {
    let pool = ChunkPool(budget: .bytes(20))
    let chunk = ValueChunk(in: pool, label: "chunk", size: 4) { "old" }
    let pin = try chunk.pin()
    try chunk.withReady { old in
      chunk.update(size: 7) { "new" }
      #expect(pool.used == .bytes(4))
      #expect(!chunk.isReady)
      try chunk.withReady { new in
        #expect(old == "old" && new == "new")
        #expect(pool.used == .bytes(11))
        #expect(pool.statistics.pinned == 11)
      }
    }
    #expect(pin.value() == "old")
    #expect(pool.used == .bytes(11))
    pin.unpin()
    #expect(pool.used == .bytes(7))
    try chunk.withReady { #expect($0 == "new") }
    checkNothingIsLeft(of: pool)
  }

  @Test("Case 54: a buffer is changed while in use, several times over")
  func bufferChangedInUse() throws {
    let page = 4_096
    let pool = ChunkPool(budget: .bytes(20 * page))
    let fill: @Sendable (UInt8) -> BufferChunk.Generator = { mark in
      { bytes in
        for offset in 0..<bytes.byteCount { bytes.storeBytes(of: mark, toByteOffset: offset, as: UInt8.self) }
      }
    }
    let check: (RawSpan, UInt8, Int) -> Void = { span, mark, count in
      #expect(span.byteCount == count)
      #expect((0..<count).allSatisfy { span.unsafeLoad(fromByteOffset: $0, as: UInt8.self) == mark })
    }
    let chunk = BufferChunk(in: pool, label: "chunk", size: 100, generate: fill(1))
    let old = try chunk.pin()
    chunk.update(size: 5_000, generate: fill(2))
    let new = try chunk.pin()
    #expect(pool.statistics.ready == 3 * page)
    // Both lanes are taken: a third edition has to wait until one of them is let go, and a pin is not waited for.
    chunk.update(size: 200, generate: fill(3))
    #expect(outcome { try chunk.ensureReady() } == .noRoom(.oldProductInUse))
    old.withBytes { check($0, 1, 100) }
    new.withBytes { check($0, 2, 5_000) }
    old.unpin()
    try chunk.withBytes { check($0, 3, 200) }
    new.withBytes { check($0, 2, 5_000) }
    #expect(pool.statistics.ready == 3 * page)
    new.unpin()
    #expect(pool.statistics.ready == page)
    checkNothingIsLeft(of: pool)
  }

  @Test("Case 54: the new one does not fit beside the old: refused while the old is held, generated after")
  func noRoomForBoth() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunk = ValueChunk(in: pool, label: "chunk", size: 6) { 1 }
    let pin = try chunk.pin()
    chunk.update(size: 5) { 2 }
    #expect(outcome { try chunk.ensureReady() } == .noRoom(.heldByTokens))
    #expect(pin.value() == 1)
    pin.unpin()
    try chunk.withReady { #expect($0 == 2) }
    #expect(pool.used == .bytes(5))
    checkNothingIsLeft(of: pool)
  }

  @Test("Case 54: changed again and again while many use it: each sees a whole value, never one older than its use")
  func changedByOthers() async throws {
    let pool = ChunkPool(budget: .bytes(100))
    let latest = ByteTally()
    let chunk = ValueChunk(in: pool, label: "chunk", size: 10) { [0, 0] }
    try await noHang(onThreads: 4) { index in
      for _ in 0..<Stress.rounds(1_000) {
        if index == 0 {
          let next = latest.bytes + 1
          chunk.update(size: 1 + next % 40) { [next, next] }
          latest.add(1)
        } else {
          let least = latest.bytes
          try! chunk.withReady { value in
            precondition(value[0] == value[1] && value[0] >= least, "\(value) after \(least)")
          }
        }
      }
    }
    checkNothingIsLeft(of: pool)
  }
}
