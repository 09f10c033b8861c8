import MemChunks
import TestSupport
import Testing

/// Where buffers are placed: among pages that are resident, and more goes for that where it can help.
@Suite("Placing buffers", .timeLimit(.hang))
struct PlacingTests {
  private static let page = 4_096

  /// Stands still, unless a test has generating take time: what it takes decides.
  private let clock = ManualClock()

  private static func buffer(_ label: String, pages: Int, in pool: ChunkPool) -> BufferChunk {
    BufferChunk(in: pool, label: label, size: pages * page) { $0.storeBytes(of: 1, toByteOffset: 0, as: UInt8.self) }
  }

  private static func address(of chunk: BufferChunk) throws -> UInt {
    try chunk.withBytes { $0.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } }
  }

  /// Buffers of mixed sizes that push each other out; how many pages lie between the first and the last ever used.
  private static func span(of pool: ChunkPool) throws -> Int {
    var random = SeededGenerator(seed: 9)
    var range = UInt.max...UInt.max
    var chunks: [BufferChunk] = []
    for number in 0..<2_000 {
      let pages = 1 + Int.random(in: 0..<(1 << (number % 7)), using: &random)
      chunks.append(buffer("\(number)", pages: pages, in: pool))
      let start = try address(of: chunks[number]), last = start + UInt(pages * page) - 1
      range = min(range.lowerBound, start)...(range.upperBound == .max ? last : max(range.upperBound, last))
      if number >= 400 { chunks[number - 400].discard() }
    }
    keep(chunks)
    return (Int(range.upperBound - range.lowerBound) + 1) / page
  }

  @Test("Buffers of any sizes that follow each other never take more pages than the budget has")
  func followsEachOther() throws {
    let pool = ChunkPool(budget: .bytes(256 * Self.page), time: clock.read)
    #expect(pool.freesAhead)
    #expect(try Self.span(of: pool) <= 256)
    pool.freeAll()
    pool.freesAhead = false
    // Where only so much may go as the bytes need, fresh pages are taken for those that lie scattered.
    #expect(try Self.span(of: pool) > 256)
    #expect(pool.used.bytes <= 256 * Self.page)
  }

  /// Three buffers of four pages side by side, `b` used last. Its neighbours go first, and do not lie together.
  private static func neighbours(in pool: ChunkPool) throws -> [BufferChunk] {
    let chunks = ["a", "b", "c"].map { buffer($0, pages: 4, in: pool) }
    for chunk in chunks + [chunks[1]] { try chunk.ensureReady() }
    return chunks
  }

  @Test("What lies between goes too, in turn", arguments: [true, false])
  func between(isOn: Bool) throws {
    let pool = ChunkPool(budget: .bytes(12 * Self.page), time: clock.read)
    pool.freesAhead = isOn
    let chunks = try Self.neighbours(in: pool)
    let d = Self.buffer("d", pages: 8, in: pool)
    try d.ensureReady()
    #expect(chunks.map(\.isReady) == [false, !isOn, false])
    #expect(pool.used.bytes <= 12 * Self.page)
    // What went too much is room: the next takes it.
    if isOn {
      try chunks[0].ensureReady()
      #expect(d.isReady)
    }
    keep(chunks)
  }

  @Test("What lies between stays if making it again could take longer than fresh pages", arguments: [0, 1])
  func dear(over: Int) throws {
    let pool = ChunkPool(budget: .bytes(12 * Self.page), time: clock.read)
    let chunks = ["a", "b", "c"].map { label in
      BufferChunk(in: pool, label: label, size: 4 * Self.page) { [clock] in
        // Eight pages, at a nanosecond a byte.
        clock.advance(by: .nanoseconds(8 * Self.page + over))
        $0.storeBytes(of: 1, toByteOffset: 0, as: UInt8.self)
      }
    }
    for chunk in chunks + [chunks[1]] { try chunk.ensureReady() }
    try Self.buffer("d", pages: 8, in: pool).ensureReady()
    #expect(chunks.map(\.isReady) == [false, over == 1, false])
  }

  @Test("Nothing goes for it that could not help: what is in use stays, and so does what is behind it")
  func inUse() throws {
    let pool = ChunkPool(budget: .bytes(16 * Self.page), time: clock.read)
    let chunks = try Self.neighbours(in: pool)
    let last = Self.buffer("last", pages: 4, in: pool)
    try last.ensureReady()
    // Room for seven pages: a and b and their neighbour c would do, but b is in use.
    try chunks[1].withReady {
      let d = Self.buffer("d", pages: 9, in: pool)
      try d.ensureReady()
      #expect(d.isReady && chunks[1].isReady)
    }
    let e = Self.buffer("e", pages: 2, in: pool)
    try e.ensureReady()
    #expect(pool.used.bytes <= 16 * Self.page)
    keep(chunks + [last, e])
  }

  @Test("A chunk that is no buffer does not go for it, nor what comes after it")
  func noBuffer() throws {
    let pool = ChunkPool(budget: .bytes(12 * Self.page + 100), time: clock.read)
    let chunks = ["a", "b", "c"].map { Self.buffer($0, pages: 4, in: pool) }
    let other = TrackedChunk(in: pool, label: "other", size: 100)
    for chunk in [chunks[0], chunks[1], chunks[2], other, chunks[1]] as [MemChunk] { try chunk.ensureReady() }
    let d = Self.buffer("d", pages: 8, in: pool)
    try d.ensureReady()
    #expect(chunks.map(\.isReady) == [false, true, false] && other.isReady)
    #expect(pool.used.bytes <= 12 * Self.page + 100)
    keep(chunks)
  }

  @Test("Nothing goes as long as pages can be added")
  func room() throws {
    let pool = ChunkPool(budget: .bytes(20 * Self.page), time: clock.read)
    let chunks = try Self.neighbours(in: pool)
    let d = Self.buffer("d", pages: 8, in: pool)
    try d.ensureReady()
    #expect((chunks + [d]).map(\.isReady) == [true, true, true, true])
  }
}
