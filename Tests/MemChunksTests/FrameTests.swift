import MemChunks
import TestSupport
import Testing

@Suite("Frames and prefetches")
struct FrameTests {
  @Test("Case 21: sixty frames with two chunks larger together than the budget: an error each, no thrashing")
  func tooMuchForAFrame() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let pair = pool.tracked(2, of: 6)
    var refusals = 0
    for frame in 0..<60 {
      pool.frame {
        for chunk in frame % 2 == 0 ? pair : pair.reversed() {
          guard let numbers = refusal({ try chunk.ensureReady() }) else { continue }
          refusals += 1
          #expect(numbers.needed == 6 && numbers.framed == 6 && numbers.free == 4 && numbers.reason == .holdsOthers)
        }
        // What was used in this frame is there until it ends.
        #expect(readyLabels(pair).count == 1)
      }
      pool._checkInvariants()
    }
    #expect(refusals == 60)
    // Each frame begins with the other chunk, so each generates once; never twice in a frame.
    #expect(pool.statistics.generations == 60)
    // In the same order each time, the first stays.
    for _ in 0..<60 {
      pool.frame { for chunk in pair { try? chunk.ensureReady() } }
    }
    #expect(pool.statistics.generations <= 61)
  }

  @Test("Case 21: what was used in the frame is protected however it was used, also by another thread")
  func protectedUses() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunks = pool.tracked(6, of: 2)
    for chunk in chunks[..<5] { try chunk.ensureReady() }
    try pool.frame {
      try chunks[0].ensureReady()
      try chunks[1].withReady {}
      TestThread { try! chunks[2].ensureReady() }.join()
      try chunks[5].ensureReady()
      #expect(readyLabels(chunks) == ["c0", "c1", "c2", "c4", "c5"])
      chunks[5].discard()
      pool.freeAll()
      pool.trim(to: .bytes(0))
      pool.report(.critical)
      pool.report(.normal)
      pool.free(unusedFor: .zero)
      #expect(readyLabels(chunks) == ["c0", "c1", "c2", "c5"])
      pool._checkInvariants()
    }
    #expect(pool.used.bytes == 0)
    pool._checkInvariants()
  }

  @Test("Case 21: frames overlap; protected is what was used since the oldest open one")
  func overlappingFrames() throws {
    let pool = ChunkPool(budget: .bytes(4))
    let chunks = pool.tracked(4, of: 2)
    let first = pool.beginFrame()
    try chunks[0].ensureReady()
    let second = pool.beginFrame()
    try chunks[1].ensureReady()
    #expect(refusal { try chunks[2].ensureReady() }?.reason == .heldByTokens)
    first.end()
    // The second frame began after chunk 0 was used.
    try chunks[2].ensureReady()
    #expect(readyLabels(chunks) == ["c1", "c2"])
    second.end()
    try chunks[3].ensureReady()
    #expect(readyLabels(chunks) == ["c2", "c3"])
    pool._checkInvariants()
  }

  @Test("Case 21: an inner frame that ends leaves its chunks to the outer one")
  func nestedFrames() throws {
    let pool = ChunkPool(budget: .bytes(4))
    let chunks = pool.tracked(3, of: 2)
    try pool.frame {
      try pool.frame { try chunks[0].ensureReady() }
      try chunks[1].ensureReady()
      let third = chunks[2]
      #expect(refusal { try third.ensureReady() } != nil)
      #expect(readyLabels(chunks) == ["c0", "c1"])
    }
    pool._checkInvariants()
  }

  @Test("Case 21: a frame that throws is ended")
  func throwingFrame() throws {
    let pool = ChunkPool(budget: .bytes(4))
    let chunks = pool.tracked(2, of: 4)
    func failingFrame() throws {
      try pool.frame {
        try chunks[0].ensureReady()
        throw Broken()
      }
    }
    #expect(throws: Broken.self) { try failingFrame() }
    try chunks[1].ensureReady()
    #expect(readyLabels(chunks) == ["c1"])
  }

  @Test("Case 24: two thousand chunks a frame where 1 024 fit: reported, not generated again each frame")
  func manySmallChunks() throws {
    let pool = ChunkPool(budget: .bytes(1_024))
    let chunks = pool.tracked(2_000, of: 1)
    for frame in 1...5 {
      let refused = pool.frame { chunks.count { chunk in refusal { try chunk.ensureReady() } != nil } }
      #expect(refused == 2_000 - 1_024)
      #expect(pool.statistics.generations == 1_024 && pool.statistics.frees == 0)
      #expect(pool.statistics.refusals == frame * refused)
    }
    #expect(pool.statistics.hits == 4 * 1_024)
    pool._checkInvariants()
  }

  @Test("Case 26: a prefetch frees only what was used neither in this frame nor in the last")
  func prefetchSpares() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let old = pool.tracked(2, of: 2, "old"), last = pool.tracked(1, of: 2, "last"), now = pool.tracked(2, of: 2, "now")
    for chunk in old { try chunk.ensureReady() }
    try pool.frame { for chunk in last { try chunk.ensureReady() } }
    let wanted = pool.tracked(4, of: 2, "wanted")
    try pool.frame {
      for chunk in now { try chunk.ensureReady() }
      let prefetch = pool.prefetch(wanted)
      #expect(prefetch.wait().map(\.label) == ["wanted0", "wanted1"])
      #expect(readyLabels(old).isEmpty && readyLabels(last + now).count == 3)
    }
    pool._checkInvariants()
    // It is no use, no miss and no refusal.
    let numbers = pool.statistics
    #expect(numbers.misses == 5 && numbers.hits == 0 && numbers.refusals == 0 && numbers.generations == 7)
    // Two frames later all of that is old.
    pool.frame {}
    pool.frame {}
    #expect(pool.prefetch(wanted).wait().map(\.label) == ["wanted2", "wanted3"])
    #expect(readyLabels(last + now) == ["now1"] && readyLabels(wanted).count == 4)
    pool._checkInvariants()
  }

  @Test("Case 26: a prefetch passes over what fails, stops when room is gone, and can be awaited")
  func prefetchGoesOn() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunks = pool.tracked(7, of: 3)
    chunks[0].hooks.generate = { _ in throw Broken() }
    chunks[1].declaredSize = 11
    try await chunks[2].ensureReady()
    // Without frames, whatever was used before the prefetch began may go.
    let readied = await pool.prefetch(chunks).readied
    #expect(readied.map(\.label) == ["c3", "c4", "c5"])
    #expect(!chunks[2].isReady && chunks[6].generations == 0)
    let nothing = await pool.prefetch([]).readied
    #expect(nothing.isEmpty)
    pool._checkInvariants()
  }

  @Test("Case 26: a prefetch does not lift what is ready above the keep limit, and drops nothing recent for it")
  func prefetchKeepLimit() throws {
    let pool = ChunkPool(budget: .bytes(10))
    pool.keepLimit = .bytes(6)
    let old = pool.tracked("old", 3), recent = pool.tracked("recent", 3)
    try old.ensureReady()
    try pool.frame {
      try recent.ensureReady()
      let wanted = pool.tracked(2, of: 3, "wanted")
      #expect(pool.prefetch(wanted).wait().map(\.label) == ["wanted0"])
      #expect(recent.isReady && !old.isReady && pool.used.bytes == 6)
      keep(wanted)
    }
    pool.keepLimit = .bytes(0)
    #expect(pool.prefetch(pool.tracked(1, of: 3)).wait().isEmpty)
    pool._checkInvariants()
  }

  @Test("Case 26: a prefetch can be cancelled, and dropping the pool ends it")
  func prefetchEnds() throws {
    var pool: ChunkPool? = ChunkPool(budget: .bytes(100))
    let gate = Gate()
    let chunks = pool!.tracked(3, of: 3)
    chunks[0].hooks.generate = { _ in gate.wait() }
    let prefetch = pool!.prefetch(chunks)
    gate.waitForArrivals()
    prefetch.cancel()
    gate.open()
    #expect(prefetch.wait().map(\.label) == ["c0"] && chunks[1].generations == 0)
    let second = Gate()
    chunks[1].hooks.generate = { _ in second.wait() }
    let other = pool!.prefetch(chunks)
    second.waitForArrivals()
    pool = nil
    second.open()
    #expect(other.wait().isEmpty)
    #expect(chunks.allSatisfy { $0.generations == $0.frees })
  }
}
