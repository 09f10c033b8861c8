import MemChunks
import TestSupport
import Testing

/// Cases 27 to 32: what levels of pressure do.
@Suite("Pressure")
struct PressureTests {
  /// A pool of 100 bytes on a clock that stands still, with ten ready chunks of 10.
  private static func fullPool() throws -> (pool: ChunkPool, chunks: [TrackedChunk], clock: ManualClock) {
    let clock = ManualClock()
    let pool = ChunkPool(budget: .bytes(100), time: clock.read)
    let chunks = (0..<10).map { TrackedChunk(in: pool, label: "\($0)", size: 10) }
    for chunk in chunks { try chunk.ensureReady() }
    return (pool, chunks, clock)
  }

  @Test("Case 27: normal frees nothing, warning half, critical all that is unused")
  func levels() throws {
    let (pool, chunks, _) = try Self.fullPool()
    pool.report(.normal)
    #expect(chunks.allSatisfy { $0.isReady })
    pool.report(.warning)
    // The least recently used half went.
    #expect(chunks.map { $0.isReady } == Array(repeating: false, count: 5) + Array(repeating: true, count: 5))
    #expect(pool.statistics.keepLimit == 50)
    pool.report(.critical)
    #expect(pool.used == .bytes(0))
    #expect(chunks.allSatisfy { $0.frees == 1 })
    #expect(pool.budget == .bytes(100))
    pool._checkInvariants()
  }

  @Test("Case 27: the shares are settable", arguments: [(1.0, 100), (0.25, 25), (0, 0), (-3, 0), (7, 100)])
  func shares(share: Double, kept: Int) throws {
    let (pool, chunks, _) = try Self.fullPool()
    defer { withExtendedLifetime(chunks) {} }
    pool.keepShares = KeepShares(warning: share, critical: share)
    pool.report(.warning)
    #expect(pool.statistics.ready <= kept && pool.statistics.ready > kept - 10)
    pool.report(.critical)
    #expect(pool.statistics.ready <= kept)
  }

  @Test("Case 27: a keep limit that the user set holds beside the share, whichever is less")
  func keepLimitToo() throws {
    let (pool, chunks, _) = try Self.fullPool()
    defer { withExtendedLifetime(chunks) {} }
    pool.keepLimit = .bytes(30)
    #expect(pool.statistics.ready == 30)
    pool.report(.warning)
    #expect(pool.statistics.keepLimit == 30)
    pool.keepLimit = nil
    #expect(pool.statistics.keepLimit == 50)
  }

  @Test("Case 28: the keep limit stays down until the level ends, recovers by steps, and relief generates nothing")
  func recovery() throws {
    let (pool, chunks, clock) = try Self.fullPool()
    pool.keepShares = KeepShares(recoveryStep: .seconds(2))
    pool.report(.critical)
    clock.advance(by: .seconds(1_000))
    // Time alone ends nothing. Under critical pressure a chunk can still be generated and used.
    try chunks[0].withReady {
      #expect(chunks[0].isWhole)
      #expect(pool.statistics.keepLimit == 0)
    }
    #expect(!chunks[0].isReady)
    let generated = pool.statistics.generations
    pool.report(.normal)
    #expect(pool.statistics.keepLimit == 0)
    var limits: [Int] = []
    let visitor = TrackedChunk(in: pool, label: "visitor", size: 0)
    for _ in 0..<6 {
      clock.advance(by: .seconds(2))
      // The pool looks at the clock when it is visited.
      visitor.invalidate()
      try visitor.ensureReady()
      limits.append(pool.statistics.keepLimit)
    }
    #expect(limits == [25, 50, 75, 100, 100, 100])
    #expect(pool.statistics.generations == generated + 6)
    #expect(chunks.allSatisfy { !$0.isReady })
  }

  @Test("Case 28: pressure that returns while the limit recovers lowers it again")
  func relapse() throws {
    let (pool, chunks, clock) = try Self.fullPool()
    pool.keepShares = KeepShares(recoveryStep: .seconds(2))
    pool.report(.critical)
    pool.report(.normal)
    clock.advance(by: .seconds(6))
    for chunk in chunks { try chunk.ensureReady() }
    #expect(pool.statistics.keepLimit == 75)
    pool.report(.critical)
    #expect(pool.statistics.keepLimit == 0)
    #expect(pool.used == .bytes(0))
    pool.report(.warning)
    #expect(pool.statistics.keepLimit == 50)
  }

  @Test("Case 29: what is pinned stays through a warning with the same product, and goes once when unpinned")
  func pinned() throws {
    let (pool, chunks, _) = try Self.fullPool()
    for level in [PressureLevel.warning, .critical] {
      try chunks[0].withReady {
        let pin = try chunks[1].pin()
        for _ in 0..<5 { pool.report(level) }
        #expect(chunks[0].isWhole && chunks[1].isWhole)
        #expect(chunks[0].isReady && chunks[1].isReady)
        pin.unpin()
        #expect(chunks[1].isReady == (level == .warning))
      }
      #expect(chunks[0].isReady == (level == .warning))
    }
    #expect(chunks[0].generations == 1 && chunks[0].frees == 1)
    #expect(chunks[1].generations == 1 && chunks[1].frees == 1)
    #expect(pool.used == .bytes(0))
    pool._checkInvariants()
  }

  @Test("Case 29: what an open frame used stays through critical pressure, and goes when the frame ends")
  func framed() throws {
    let (pool, chunks, _) = try Self.fullPool()
    try pool.frame {
      try chunks[0].ensureReady()
      pool.report(.critical)
      #expect(chunks.map { $0.isReady } == [true] + Array(repeating: false, count: 9))
    }
    #expect(pool.used == .bytes(0))
    #expect(chunks[0].frees == 1)
  }

  @Test(
    "Case 30: pressure during a generate: the product is kept or freed, never half ready", arguments: [false, true])
  func duringGenerate(byScope: Bool) throws {
    // On a clock that stands still, so that no report rests after the last.
    let pool = ChunkPool(budget: .bytes(100), time: ManualClock().read)
    let chunk = TrackedChunk(in: pool, label: "chunk", size: 40)
    chunk.hooks.generate = { _ in
      pool.report(.critical)
      #expect(pool.statistics.reserved == 40)
    }
    if byScope {
      try chunk.withReady { #expect(chunk.isWhole && pool.statistics.ready == 40) }
      #expect(!chunk.isReady)
    } else {
      try chunk.ensureReady()
      #expect(chunk.isReady == chunk.hasProduct)
    }
    #expect(pool.statistics.reserved == 0)
    pool._checkInvariants()
    pool.report(.critical)
    #expect(pool.used == .bytes(0))
    #expect(chunk.generations == chunk.frees)
  }

  @Test("Case 31: a warning every frame, with a working set above the keep limit: one generation a chunk and frame")
  func everyFrame() throws {
    let clock = ManualClock()
    let pool = ChunkPool(budget: .bytes(100), time: clock.read)
    let chunks = (0..<9).map { TrackedChunk(in: pool, label: "\($0)", size: 10) }
    for frame in 1...60 {
      pool.report(frame % 2 == 0 ? .warning : .critical)
      let before = chunks.map { $0.generations }
      try pool.frame {
        // Each is used several times, in turns.
        for _ in 0..<3 { for chunk in chunks { try chunk.withReady {} } }
        pool.report(.critical)
        for chunk in chunks { try chunk.ensureReady() }
      }
      for (chunk, before) in zip(chunks, before) { #expect(chunk.generations <= before + 1) }
      #expect(pool.statistics.ready == 0)
      clock.advance(by: .milliseconds(16))
    }
  }

  @Test("Case 32: 1 000 warnings while nothing changes free and generate nothing more")
  func storm() throws {
    let (pool, chunks, clock) = try Self.fullPool()
    let pins = try chunks.map { try Held($0.pin()) }
    for _ in 0..<1_000 {
      pool.report(.critical)
      clock.advance(by: .milliseconds(1))
    }
    #expect(pool.statistics.frees == 0)
    #expect(chunks.allSatisfy { $0.isWhole })
    for pin in pins { pin.letGo() }
    #expect(chunks.allSatisfy { $0.frees == 1 })
    #expect(pool.statistics.generations == 10)
  }

  @Test("Case 32: after a response that took long, reports of the same level rest for twenty times as long")
  func backsOff() throws {
    let (pool, chunks, clock) = try Self.fullPool()
    for chunk in chunks { chunk.hooks.free = { _ in clock.advance(by: .milliseconds(2)) } }
    pool.report(.warning)
    #expect(pool.statistics.ready == 50)
    // The response took 10 ms, so the next comes 200 ms later at the earliest.
    pool.keepShares = KeepShares(warning: 0.1)
    pool.report(.warning)
    #expect(pool.statistics.ready == 50)
    clock.advance(by: .milliseconds(199))
    pool.report(.warning)
    #expect(pool.statistics.ready == 50)
    clock.advance(by: .milliseconds(2))
    pool.report(.warning)
    #expect(pool.statistics.ready == 10)
    // A level that rises is answered at once.
    pool.report(.critical)
    #expect(pool.statistics.ready == 0)
    keep(chunks)
  }
}

/// A pin in an array, which cannot hold what cannot be copied.
final class Held {
  private var pin: Pin<TrackedChunk>?
  init(_ pin: consuming Pin<TrackedChunk>) { self.pin = consume pin }
  func letGo() { pin = nil }
}
