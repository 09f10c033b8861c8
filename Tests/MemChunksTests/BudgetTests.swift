import MemChunks
import TestSupport
import Testing

@Suite("Budget and accounting")
struct BudgetTests {
  @Test("Case 1: a hundred chunks of 1 through a budget of 10, counted at every instant", arguments: [1, 3])
  func throughASmallBudget(threads: Int) throws {
    let pool = ChunkPool(budget: .bytes(10))
    let tally = ByteTally()
    let chunks = pool.tracked(100, of: 1, tally: tally)
    let worst = Locked(0)
    for chunk in chunks {
      chunk.hooks.generate = { [weak pool] _ in worst.withLock { $0 = max($0, pool!.used.bytes) } }
    }
    let sampler = Sampler { worst.withLock { $0 = max($0, pool.used.bytes) } }
    onThreads(threads) { _ in
      for chunk in chunks {
        try! chunk.ensureReady()
        worst.withLock { $0 = max($0, pool.used.bytes) }
      }
    }
    sampler.stop()
    pool._checkInvariants()
    #expect(worst.current <= 10)
    #expect(tally.peak <= 10)
    #expect(pool.statistics.peak == 10)
    #expect(pool.used.bytes == 10)
    if threads == 1 { #expect(readyLabels(chunks) == chunks.suffix(10).map(\.label)) }
  }

  @Test("Case 1: buffers and values of mixed sizes, counted at every instant")
  func mixedKinds() throws {
    let pool = ChunkPool(budget: .kilobytes(64))
    var random = SeededGenerator(seed: 1)
    var chunks: [MemChunk] = []
    for number in 0..<60 {
      let size = Int.random(in: 0...20_000, using: &random)
      if number % 2 == 0 {
        chunks.append(
          BufferChunk(in: pool, label: "b\(number)", size: size) { bytes in
            for offset in 0..<bytes.byteCount { bytes.storeBytes(of: UInt8(7), toByteOffset: offset, as: UInt8.self) }
          })
      } else {
        chunks.append(ValueChunk(in: pool, label: "v\(number)", size: size) { number })
      }
    }
    let worst = Locked(0)
    let sampler = Sampler { worst.withLock { $0 = max($0, pool.used.bytes) } }
    for _ in 0..<5 {
      for chunk in chunks.shuffled(using: &random) {
        try chunk.ensureReady()
        pool._checkInvariants()
      }
    }
    sampler.stop()
    #expect(worst.current <= 65_536)
    #expect(pool.statistics.peak <= 65_536)
  }

  @Test("Case 2: a sixth chunk wanted while five hold the whole budget in scopes: all numbers, nothing freed")
  func sixthOfFive() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunks = pool.tracked(6, of: 2)
    let numbers = try #require(
      try pool.withReady(Array(chunks[..<5])) { refusal { try chunks[5].ensureReady() } })
    #expect(numbers.label == "c5" && numbers.needed == 2 && numbers.free == 0 && numbers.budget == 10)
    #expect(numbers.pinned == 10 && numbers.framed == 0 && numbers.reserved == 0 && numbers.freeing == 0)
    #expect(Set(numbers.holders).isSubset(of: Set(chunks[..<5].map(\.label))) && numbers.holders.count == 4)
    #expect(numbers.reason == .holdsOthers)
    #expect(chunks[..<5].allSatisfy { $0.isReady && $0.frees == 0 })
    #expect(chunks[5].generations == 0)
    pool._checkInvariants()
    // The scopes are gone: now it has room, and one goes.
    try chunks[5].ensureReady()
    #expect(readyLabels(chunks) == ["c1", "c2", "c3", "c4", "c5"])
  }

  @Test("Case 2: the same with nested scopes, with tokens, and in a frame")
  func sixthOfFiveOtherwise() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunks = pool.tracked(6, of: 2)
    func nested(_ depth: Int) throws -> ChunkError.NoRoom? {
      if depth == 5 { return refusal { try chunks[5].ensureReady() } }
      return try chunks[depth].withReady { try nested(depth + 1) }
    }
    let byScopes = try #require(try nested(0))
    #expect(byScopes.pinned == 10 && byScopes.free == 0 && byScopes.needed == 2 && byScopes.reason == .holdsOthers)

    let pins = try pool.pin(Array(chunks[..<5]))
    let byTokens = try #require(refusal { try chunks[5].ensureReady() })
    #expect(byTokens.pinned == 10 && byTokens.free == 0 && byTokens.needed == 2 && byTokens.reason == .heldByTokens)
    let atDeadline = try #require(refusal { try chunks[5].ensureReady(waitingUpTo: .zero) })
    #expect(atDeadline.pinned == 10 && atDeadline.reason == .deadline)
    pins.unpin()

    let byFrame = try #require(
      try pool.frame {
        for chunk in chunks[..<5] { try chunk.ensureReady() }
        return refusal { try chunks[5].ensureReady() }
      })
    #expect(byFrame.pinned == 0 && byFrame.framed == 10 && byFrame.free == 0 && byFrame.reason == .holdsOthers)
    #expect(chunks[..<5].allSatisfy { $0.isReady && $0.frees == 0 })
    #expect(pool.statistics.refusals == 4)
    pool._checkInvariants()
  }

  @Test("Case 2: what could be freed is not freed when that would not be enough")
  func lookFirstThenFree() throws {
    let pool = ChunkPool(budget: .bytes(14))
    let chunks = pool.tracked(7, of: 2)
    for chunk in chunks { try chunk.ensureReady() }
    let big = pool.tracked("big", 6)
    let numbers = try pool.withReady(Array(chunks[..<5])) { refusal { try big.ensureReady() } }
    #expect(numbers?.pinned == 10 && numbers?.needed == 6 && numbers?.free == 0)
    #expect(chunks.allSatisfy { $0.isReady && $0.frees == 0 })
    #expect(big.generations == 0)
    pool._checkInvariants()
  }

  @Test("Case 3: a picture of 1024 x 1024 RGBA counts its bytes; a buffer counts whole pages")
  func pictureBytes() throws {
    let pool = ChunkPool(budget: .megabytes(8))
    let picture = BufferChunk(in: pool, label: "picture", size: 4 * 1024 * 1024) { _ in }
    try picture.ensureReady()
    #expect(pool.used.bytes == 4_194_304)
    #expect(pool.snapshot().map(\.size) == [4_194_304])
    picture.discard()
    let odd = BufferChunk(in: pool, label: "odd", size: 1) { _ in }
    try odd.withBytes { #expect($0.byteCount == 1) }
    let page = pool.statistics.ready
    #expect(page >= 4_096 && page % 4_096 == 0)
    #expect(odd.size == 1)
    pool._checkInvariants()
  }

  @Test("Case 4: a chunk generated ten times over is counted once")
  func generatedTenTimes() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let tally = ByteTally()
    let chunk = pool.tracked("a", 7, tally: tally)
    let other = pool.tracked("b", 6, tally: tally)
    let ways: [() throws -> Void] = [
      { chunk.discard() }, { chunk.invalidate() }, { pool.freeAll() }, { pool.trim(to: .bytes(0)) },
      {
        try other.ensureReady()
        other.discard()
      }, { pool.free(unusedFor: .zero) },
    ]
    for round in 0..<10 {
      try chunk.ensureReady()
      #expect(pool.used.bytes == 7 && tally.bytes == 7)
      try chunk.ensureReady()
      #expect(pool.used.bytes == 7 && chunk.generations == round + 1)
      try ways[round % ways.count]()
      #expect(pool.used.bytes == 0 && tally.bytes == 0 && chunk.frees == round + 1)
      pool._checkInvariants()
    }
    #expect(pool.statistics.peak == 7)
  }

  @Test("Case 5: what is given back is the size last settled, whatever the chunk says later", arguments: [1, 9, 0, -5])
  func sizeChangesLater(later: Int) throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunk = pool.tracked("a", 4)
    try chunk.ensureReady()
    chunk.declaredSize = later
    #expect(pool.used.bytes == 4)
    try chunk.ensureReady()
    try chunk.withReady { #expect(pool.used.bytes == 4) }
    pool.freeAll()
    #expect(pool.used.bytes == 0 && pool.unsettled == 0)
    pool._checkInvariants()
  }
}
