import MemChunks
import TestSupport
import Testing

@Suite("Budget, keep limit and groups' limits that change")
struct LimitTests {
  @Test("Case 11: lowering the budget frees at once down to it, oldest first; raising it regenerates nothing")
  func loweredBudget() throws {
    let log = ChunkLog()
    let pool = ChunkPool(budget: .bytes(10))
    let chunks = pool.tracked(5, of: 2, log: log)
    for chunk in chunks { try chunk.ensureReady() }
    try chunks[0].ensureReady()
    pool.budget = .bytes(5)
    #expect(pool.used.bytes == 4 && pool.statistics.overdraft == 0)
    #expect(log.freed == ["c1", "c2", "c3"])
    pool._checkInvariants()
    pool.budget = .bytes(100)
    #expect(pool.used.bytes == 4 && pool.statistics.generations == 5 && pool.budget == .bytes(100))
    pool.budget = .bytes(0)
    #expect(pool.used.bytes == 0 && log.freed == ["c1", "c2", "c3", "c4", "c0"])
    pool._checkInvariants()
    keep(chunks)
  }

  @Test("Case 11: pinned excess is reported, and freed as pins end")
  func pinnedExcess() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunks = pool.tracked(5, of: 2)
    var pins = try chunks.map { try HeldPin($0) }
    pool.budget = .bytes(3)
    #expect(pool.used.bytes == 10 && pool.statistics.overdraft == 7 && pool.statistics.pinned == 10)
    #expect(chunks.allSatisfy { $0.isReady })
    pool._checkInvariants()
    for left in [8, 6, 4, 2] {
      pins.removeLast()
      #expect(pool.used.bytes == left && pool.statistics.overdraft == max(0, left - 3))
      pool._checkInvariants()
    }
    pins.removeAll()
    // Within the budget it stays: nothing else wants the room.
    #expect(pool.used.bytes == 2 && chunks[0].isReady)
    #expect(chunks.dropFirst().allSatisfy { $0.generations == 1 && $0.frees == 1 })
    pool._checkInvariants()
  }

  @Test("Case 11: excess held by a scope, a frame or a generation goes when that ends")
  func excessHeldOtherwise() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunk = pool.tracked("a", 8)
    try chunk.withReady {
      pool.budget = .bytes(3)
      #expect(chunk.isReady && pool.statistics.overdraft == 5)
    }
    #expect(!chunk.isReady && pool.used.bytes == 0)
    pool.budget = .bytes(10)
    try pool.frame {
      try chunk.ensureReady()
      pool.budget = .bytes(3)
      #expect(chunk.isReady && pool.statistics.overdraft == 5)
    }
    #expect(!chunk.isReady && pool.used.bytes == 0)
    pool.budget = .bytes(10)
    chunk.hooks.generate = { [weak pool] _ in pool!.budget = .bytes(3) }
    try chunk.withReady { #expect(pool.statistics.overdraft == 5) }
    #expect(!chunk.isReady && pool.used.bytes == 0 && chunk.frees == 3)
    pool._checkInvariants()
  }

  @Test("Case 12: with a keep limit of 0 each use generates, and frees when the last use ends")
  func keepNothing() throws {
    let pool = ChunkPool(budget: .bytes(10))
    pool.keepLimit = .bytes(0)
    let chunk = pool.tracked("a", 4)
    for round in 1...5 {
      try chunk.withReady {
        try chunk.withReady { #expect(chunk.isReady) }
        #expect(chunk.isReady && pool.used.bytes == 4)
      }
      #expect(!chunk.isReady && pool.used.bytes == 0)
      #expect(chunk.generations == round && chunk.frees == round)
      pool._checkInvariants()
    }
    let outer = try chunk.pin()
    do {
      let inner = try chunk.pin()
      inner.unpin()
    }
    #expect(chunk.isReady)
    outer.unpin()
    #expect(!chunk.isReady && chunk.generations == 6)
    // Several at once, together above what may be kept.
    let pair = pool.tracked(2, of: 5)
    try pool.withReady(pair) { #expect(pool.used.bytes == 10) }
    #expect(pool.used.bytes == 0)
    pool.keepLimit = nil
    try chunk.withReady {}
    #expect(chunk.isReady && pool.keepLimit == nil)
    pool._checkInvariants()
  }

  @Test("Case 12: a use that hits what an ensureReady above the keep limit left behind ends it too")
  func keepNothingAfterTouch() throws {
    let pool = ChunkPool(budget: .bytes(10))
    pool.keepLimit = .bytes(0)
    let chunk = pool.tracked("a", 4)
    try chunk.ensureReady()
    #expect(chunk.isReady)
    try chunk.withReady { #expect(chunk.isReady) }
    #expect(!chunk.isReady && pool.used.bytes == 0 && chunk.generations == 1)
    // Without such a use it stays until the pool is next asked for something that is missing.
    try chunk.ensureReady()
    let other = pool.tracked("b", 1)
    try other.ensureReady()
    #expect(!chunk.isReady && other.isReady)
    pool._checkInvariants()
  }

  @Test("Case 12: a keep limit between: the least recently used go first, what is in use goes as its use ends")
  func keepSome() throws {
    let log = ChunkLog()
    let pool = ChunkPool(budget: .bytes(10))
    let chunks = pool.tracked(5, of: 2, log: log)
    for chunk in chunks { try chunk.ensureReady() }
    try chunks[0].withReady {
      pool.keepLimit = .bytes(5)
      #expect(log.freed == ["c1", "c2", "c3"] && pool.used.bytes == 4)
      try pool.withReady(Array(chunks[1...3])) { #expect(pool.used.bytes == 8) }
      #expect(pool.used.bytes <= 5 && chunks[0].isReady)
    }
    #expect(pool.used.bytes <= 5 && pool.statistics.keepLimit == 5)
    pool._checkInvariants()
  }

  @Test("Case 12: a budget of 0 is legal and refuses every chunk that is not empty")
  func noBudget() throws {
    let pool = ChunkPool(budget: .bytes(0))
    let empty = pool.tracked("empty", 0)
    let one = pool.tracked("one", 1)
    try empty.withReady { #expect(empty.isReady) }
    #expect(TooLarge { try one.ensureReady() } == TooLarge("one", needed: 1, limit: 0))
    #expect(TooLarge { try pool.withReady([empty, one]) {} } == TooLarge("empty, one", needed: 1, limit: 0))
    let buffer = BufferChunk(in: pool, label: "buffer", size: 0) { bytes in precondition(bytes.byteCount == 0) }
    try buffer.withBytes { #expect($0.byteCount == 0) }
    #expect(pool.used.bytes == 0 && one.generations == 0)
    pool._checkInvariants()
  }

  @Test("Case 13: chunks of no bytes survive trims, budgets and pressure, and go with freeAll")
  func zeroSized() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let empty = pool.tracked("empty", 0)
    let shrunk = pool.tracked("shrunk", 3)
    shrunk.sizeAfter = 0
    let big = pool.tracked("big", 4)
    for chunk in [empty, shrunk, big] { try chunk.ensureReady() }
    // What is in use stands above the target; those of no bytes could not bring it down.
    try big.withReady { pool.trim(to: .bytes(0)) }
    #expect(!big.isReady && empty.isReady && shrunk.isReady && pool.used.bytes == 0)
    pool.budget = .bytes(0)
    pool.budget = .bytes(10)
    pool.keepLimit = .bytes(0)
    pool.report(.critical)
    pool.report(.normal)
    try pool.tracked("other", 10).withReady {}
    #expect(empty.isReady && shrunk.isReady)
    try empty.withReady { pool.freeAll() }
    #expect(!empty.isReady && !shrunk.isReady && empty.frees == 1 && shrunk.frees == 1)
    try empty.ensureReady()
    pool.freeAll()
    #expect(empty.frees == 2)
    pool._checkInvariants()
  }

  @Test("Case 13: a chunk of no bytes is generated even where too much is counted already")
  func zeroSizedAboveTheLimits() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let group = ChunkGroup(in: pool, label: "g")
    let held = pool.tracked("held", 8, group: group), empty = pool.tracked("empty", 0, group: group)
    let pin = try held.pin()
    pool.budget = .bytes(5)
    group.limit = .bytes(2)
    try empty.withReady { #expect(pool.statistics.overdraft == 3) }
    let buffer = BufferChunk(in: pool, group: group, size: 0) { _ in }
    try pool.withReady([empty, buffer]) {}
    #expect(empty.isReady && buffer.isReady && held.isReady)
    pin.unpin()
    #expect(pool.used.bytes == 0)
    pool._checkInvariants()
  }

  @Test("Case 17: two groups hold their limits, and their sum holds the budget")
  func twoGroups() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let left = ChunkGroup(in: pool, label: "left", limit: .bytes(6))
    let right = ChunkGroup(in: pool, label: "right", limit: .bytes(7))
    let chunks = pool.tracked(6, of: 2, "l", group: left) + pool.tracked(6, of: 3, "r", group: right)
    var random = SeededGenerator(seed: 17)
    for _ in 0..<2_000 {
      let chunk = chunks.randomElement(using: &random)!
      if Bool.random(using: &random) { try chunk.ensureReady() } else { try chunk.withReady {} }
      #expect(left.totals.ready <= 6 && right.totals.ready <= 7)
      #expect(pool.used.bytes == left.totals.ready + right.totals.ready && pool.used.bytes <= 10)
    }
    pool._checkInvariants()
    left.limit = .bytes(2)
    #expect(left.totals.ready <= 2 && left.limit == .bytes(2))
    right.limit = .bytes(0)
    #expect(right.totals.ready == 0)
    #expect(TooLarge { try chunks[6].ensureReady() } == TooLarge("r0", needed: 3, limit: 0, group: "right"))
    right.limit = nil
    try pool.withReady(Array(chunks[6...8])) { #expect(right.totals.ready == 9) }
    pool._checkInvariants()
  }

  @Test("Case 17: eight threads in two groups, sampled: each holds its limit at every instant")
  func twoGroupsManyThreads() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let groups = [("left", 6), ("right", 7)].map { ChunkGroup(in: pool, label: $0.0, limit: .bytes($0.1)) }
    let chunks = (0..<2).map { pool.tracked(5, of: 2 + $0, "g\($0)-", group: groups[$0]) }
    let broken = Locked(0)
    let sampler = Sampler {
      let counted = groups.map { $0.totals.sum }
      if counted[0] > 6 || counted[1] > 7 || pool.used.bytes > 10 { broken.withLock { $0 += 1 } }
    }
    onThreads(8) { number in
      var random = SeededGenerator(seed: UInt64(number))
      for _ in 0..<300 { try! chunks[number % 2].randomElement(using: &random)!.withReady {} }
    }
    sampler.stop()
    #expect(broken.current == 0)
    pool._checkInvariants()
  }
}
