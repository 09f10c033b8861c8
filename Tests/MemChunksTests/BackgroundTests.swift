import MemChunks
import TestSupport
import Testing

/// Cases 33 to 35: pressure and age, reported from wherever.
@Suite("Background", .timeLimit(.hang))
struct BackgroundTests {
  @Test("Case 33: pressure works while other threads are blocked, in a scope, a generate and a wait for room")
  func whileBlocked() async throws {
    let pool = ChunkPool(budget: .bytes(100))
    let held = TrackedChunk(in: pool, label: "held", size: 40)
    let slow = TrackedChunk(in: pool, label: "slow", size: 40)
    let wanted = TrackedChunk(in: pool, label: "wanted", size: 90)
    let unused = TrackedChunk(in: pool, label: "unused", size: 10)
    let isSlow = Gate()
    slow.hooks.generate = { _ in isSlow.wait() }
    try await noHang(onThreads: 4) { index in
      switch index {
      case 0: try! held.withReady { isSlow.wait() }
      case 1: try! slow.ensureReady()
      case 2:
        isSlow.waitForArrivals(2)
        try! wanted.ensureReady()
      default:
        isSlow.waitForArrivals(2)
        _ = eventually { pool._waiting == 1 }
        try! unused.ensureReady()
        pool.report(.critical)
        precondition(unused.frees == 1 && held.isWhole)
        isSlow.open()
      }
    }
    checkNothingIsLeft(of: pool)
  }

  @Test("Case 33: nothing is left behind by a dropped pool: no observer, no thread that keeps it")
  func droppedPool() async throws {
    final class Listener: Sendable {}
    weak var remembered: Listener?
    do {
      let listener = Listener()
      remembered = listener
      let pool = ChunkPool(budget: .bytes(100))
      pool.observe { _ in withExtendedLifetime(listener) {} }
      pool.report(.warning)
      let chunk = TrackedChunk(in: pool, label: "chunk", size: 10)
      // A worker of the pool's own has been at work.
      try await chunk.ensureReady()
      pool.report(.critical)
      #expect(chunk.frees == 1)
    }
    #expect(eventually { remembered == nil } == true)
  }

  @Test("Case 34: a report returns only after every free() has returned, and keeps the fraction that is configured")
  func entersBackground() throws {
    let pool = ChunkPool(budget: .bytes(100), time: ManualClock().read)
    pool.keepShares = KeepShares(warning: 0.4, critical: 0.2)
    let chunks = (0..<10).map { TrackedChunk(in: pool, label: "\($0)", size: 10) }
    let running = ByteTally()
    for chunk in chunks {
      chunk.hooks.free = { _ in
        running.add(1)
        for _ in 0..<100 { yieldThread() }
        running.add(-1)
      }
      try chunk.ensureReady()
    }
    pool.report(.warning)
    #expect(running.bytes == 0)
    #expect(chunks.map { $0.frees } == [1, 1, 1, 1, 1, 1, 0, 0, 0, 0])
    #expect(pool.used == .bytes(40))
    pool.report(.critical)
    #expect(running.bytes == 0)
    #expect(chunks.map { $0.frees } == [1, 1, 1, 1, 1, 1, 1, 1, 0, 0])
    pool.freeAll()
    #expect(running.bytes == 0)
    #expect(chunks.allSatisfy { $0.frees == 1 })
  }

  @Test("Case 35: chunks unused for so long can be freed with no new generate going on")
  func unusedFor() throws {
    let clock = ManualClock()
    let pool = ChunkPool(budget: .bytes(100), time: clock.read)
    let chunks = (0..<5).map { TrackedChunk(in: pool, label: "\($0)", size: 10) }
    for chunk in chunks {
      try chunk.ensureReady()
      clock.advance(by: .seconds(10))
    }
    // Looking at the ages is a visit of its own; nothing is freed that is younger.
    pool.free(unusedFor: .seconds(60))
    #expect(chunks.allSatisfy { $0.isReady })
    try chunks[0].ensureReady()
    // Age is known as precisely as the pool is visited: every ten seconds here. Never too old, perhaps too young.
    pool.free(unusedFor: .seconds(45))
    #expect(chunks.allSatisfy { $0.isReady })
    pool.free(unusedFor: .seconds(25))
    #expect(chunks.map { $0.isReady } == [true, false, true, true, true])
    clock.advance(by: .seconds(1_000))
    try chunks[4].withReady {
      pool.free(unusedFor: .seconds(500))
      #expect(chunks.map { $0.isReady } == [false, false, false, false, true])
    }
    #expect(pool.statistics.generations == 5)
    pool._checkInvariants()
  }

  @Test("Case 35: what is pinned or framed is spared, whatever its age; zero and negative ages free all that is unused")
  func unusedButHeld() throws {
    let clock = ManualClock()
    let pool = ChunkPool(budget: .bytes(100), time: clock.read)
    let chunks = (0..<3).map { TrackedChunk(in: pool, label: "\($0)", size: 10) }
    let pin = try chunks[0].pin()
    try pool.frame {
      for chunk in chunks.dropFirst() { try chunk.ensureReady() }
      clock.advance(by: .seconds(100))
      pool.free(unusedFor: .seconds(1))
      #expect(chunks.allSatisfy { $0.isReady })
    }
    pool.free(unusedFor: .seconds(-1))
    #expect(chunks.map { $0.isReady } == [true, false, false])
    pin.unpin()
    pool.free(unusedFor: .zero)
    #expect(pool.used == .bytes(0))
  }
}
