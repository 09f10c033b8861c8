import MemChunks
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc

  /// Case 36: what is freed really leaves the process. Asked of the system, page by page, so that what other tests do at
  /// the same time makes no difference.
  @Suite("Resident memory")
  struct ResidentMemoryTests {
    private static let page = Int(sysconf(Int32(_SC_PAGESIZE)))

    /// How many of the pages in a range are resident.
    private static func residentPages(_ start: UInt, _ bytes: Int) -> Int {
      var flags = [UInt8](repeating: 0, count: (bytes + page - 1) / page)
      let failure = mincore(UnsafeMutableRawPointer(bitPattern: start), bytes, &flags)
      precondition(failure == 0, "mincore failed")
      return flags.reduce(0) { $0 + Int($1 & 1) }
    }

    private static func address(of chunk: BufferChunk) throws -> UInt {
      try chunk.withBytes { $0.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } }
    }

    private static func fill(_ bytes: inout MutableRawSpan) {
      for offset in stride(from: 0, to: bytes.byteCount, by: 4_096) {
        bytes.storeBytes(of: 1, toByteOffset: offset, as: UInt8.self)
      }
    }

    private static func buffers(_ count: Int, pages: Int, in pool: ChunkPool) -> [BufferChunk] {
      (0..<count).map { BufferChunk(in: pool, label: "\($0)", size: pages * page) { fill(&$0) } }
    }

    @Test("Case 36: after freeAll no page of the arena is resident, round after round")
    func freeAll() throws {
      let pool = ChunkPool(budget: .bytes(256 * Self.page))
      let chunks = Self.buffers(8, pages: 32, in: pool)
      for _ in 0..<3 {
        var ranges: [UInt] = []
        for chunk in chunks { ranges.append(try Self.address(of: chunk)) }
        for start in ranges { #expect(Self.residentPages(start, 32 * Self.page) == 32) }
        pool.freeAll()
        for start in ranges { #expect(Self.residentPages(start, 32 * Self.page) == 0) }
        #expect(pool.used == .bytes(0))
        #expect(pool.statistics.freePages == 0)
      }
    }

    @Test("Case 36: freed buffers stay counted while their pages are resident, and give way to other bytes")
    func givesWay() throws {
      let pool = ChunkPool(budget: .bytes(64 * Self.page))
      let chunks = Self.buffers(2, pages: 32, in: pool)
      let starts = try chunks.map { try Self.address(of: $0) }
      chunks[0].discard()
      #expect(pool.used.bytes == 32 * Self.page + pool.statistics.freePages)
      // Bytes outside the arena want that room.
      let other = TrackedChunk(in: pool, label: "other", size: 32 * Self.page)
      try other.withReady {
        #expect(Self.residentPages(starts[0], 32 * Self.page) == 0)
        #expect(Self.residentPages(starts[1], 32 * Self.page) == 32)
        #expect(pool.used == .bytes(64 * Self.page))
      }
      keep(chunks)
    }

    @Test("Case 36: trim and critical pressure give pages back, too")
    func trim() throws {
      let pool = ChunkPool(budget: .bytes(64 * Self.page), time: ManualClock().read)
      let chunks = Self.buffers(4, pages: 16, in: pool)
      var starts = try chunks.map { try Self.address(of: $0) }
      pool.trim(to: .bytes(16 * Self.page))
      #expect(starts.map { Self.residentPages($0, 16 * Self.page) } == [0, 0, 0, 16])
      starts = try chunks.map { try Self.address(of: $0) }
      pool.report(.critical)
      #expect(starts.map { Self.residentPages($0, 16 * Self.page) } == [0, 0, 0, 0])
    }

    @Test("Case 36: lowering the budget takes resident pages with it")
    func lowerBudget() throws {
      let pool = ChunkPool(budget: .bytes(64 * Self.page))
      let chunks = Self.buffers(4, pages: 16, in: pool)
      let starts = try chunks.map { try Self.address(of: $0) }
      pool.budget = .bytes(20 * Self.page)
      let resident = starts.map { Self.residentPages($0, 16 * Self.page) }
      #expect(resident.reduce(0, +) <= 20)
      #expect(resident[3] == 16)
      #expect(pool.used.bytes <= 20 * Self.page)
      try chunks[3].withBytes { #expect($0.byteCount == 16 * Self.page) }
    }

    /// Each way to have memory back, with what it leaves of four buffers of 16 pages: the last that was used.
    private static let ways: [(name: String, left: Int, free: @Sendable (ChunkPool, [BufferChunk]) -> Void)] = [
      ("freeAll", 0, { pool, _ in pool.freeAll() }),
      ("trim", 1, { pool, _ in pool.trim(to: .bytes(20 * page)) }),
      ("free(unusedFor:)", 0, { pool, _ in pool.free(unusedFor: .zero) }),
      ("budget", 1, { pool, _ in pool.budget = .bytes(20 * page) }),
      ("keepLimit", 1, { pool, _ in pool.keepLimit = .bytes(20 * page) }),
      ("pressure", 0, { pool, _ in pool.report(.critical) }),
      ("a group's limit", 1, { _, chunks in chunks[0].group.limit = .bytes(20 * page) }),
      ("discard", 1, { _, chunks in for chunk in chunks.dropLast() { chunk.discard() } }),
    ]

    private static func pool() -> (pool: ChunkPool, chunks: [BufferChunk]) {
      let pool = ChunkPool(budget: .bytes(256 * page), time: ManualClock().read)
      let group = ChunkGroup(in: pool, label: "g")
      return (
        pool,
        (0..<4).map { BufferChunk(in: pool, group: group, label: "\($0)", size: 16 * page) { fill(&$0) } }
      )
    }

    @Test("Case 36: every way to have memory back makes the process smaller", arguments: ways.indices)
    func everyWay(number: Int) throws {
      let (pool, chunks) = Self.pool()
      let starts = try chunks.map { try Self.address(of: $0) }
      Self.ways[number].free(pool, chunks)
      let resident = starts.map { Self.residentPages($0, 16 * Self.page) }
      #expect(resident == [0, 0, 0, 16 * Self.ways[number].left], "\(Self.ways[number].name)")
      #expect(pool.statistics.freePages == 0 && pool.used.bytes == 16 * Self.page * Self.ways[number].left)
      keep(chunks)
    }

    @Test("Case 36: so it does where what goes was in use, when that use ends", arguments: ways.indices)
    func everyWayLate(number: Int) throws {
      let (pool, chunks) = Self.pool()
      let starts = try chunks.map { try Self.address(of: $0) }
      let pins = try pool.pin(chunks.dropLast())
      try pool.frame {
        try chunks[3].ensureReady()
        Self.ways[number].free(pool, chunks)
        #expect(starts.map { Self.residentPages($0, 16 * Self.page) } == [16, 16, 16, 16])
      }
      pins.unpin()
      let resident = starts.map { Self.residentPages($0, 16 * Self.page) }.reduce(0, +)
      // What has no target, and only what is unused: what is in use is no longer that old.
      let isForAll = Self.ways[number].name != "free(unusedFor:)"
      #expect(resident == (isForAll ? 16 * Self.ways[number].left : 64), "\(Self.ways[number].name)")
      #expect(pool.statistics.freePages == 0)
      keep(chunks)
    }

    @Test("Case 36: pages that lie free already go with the next order to free", arguments: ways.indices.dropLast(2))
    func freeBefore(number: Int) throws {
      let (pool, chunks) = Self.pool()
      let starts = try chunks.map { try Self.address(of: $0) }
      // Out of date: its pages wait for the next buffer.
      for chunk in chunks { chunk.invalidate() }
      #expect(starts.map { Self.residentPages($0, 16 * Self.page) } == [16, 16, 16, 16])
      Self.ways[number].free(pool, chunks)
      let resident = starts.map { Self.residentPages($0, 16 * Self.page) }.reduce(0, +)
      #expect(resident <= 20 * Self.ways[number].left, "\(Self.ways[number].name)")
      #expect(pool.statistics.freePages == resident * Self.page)
      keep(chunks)
    }

    @Test("Case 36: a closed pool keeps no page, though its chunks are still there")
    func closed() throws {
      var pool: ChunkPool? = ChunkPool(budget: .bytes(256 * Self.page))
      let chunks = Self.buffers(4, pages: 16, in: pool!)
      let starts = try chunks.map { try Self.address(of: $0) }
      let pin = try chunks[0].pin()
      pool = nil
      #expect(starts.map { Self.residentPages($0, 16 * Self.page) } == [16, 0, 0, 0])
      pin.unpin()
      #expect(starts.map { Self.residentPages($0, 16 * Self.page) } == [0, 0, 0, 0])
      keep(chunks)
    }

    @Test("Case 36: of all the pages that buffers ever had, exactly those that are counted are resident")
    func mixedSizes() throws {
      let pool = ChunkPool(budget: .bytes(256 * Self.page))
      var random = SeededGenerator(seed: 36)
      for _ in 0..<3 {
        var chunks: [BufferChunk] = []
        var range = UInt.max..<UInt.max
        for number in 0..<400 {
          let pages = 1 + Int.random(in: 0..<(1 << (number % 7)), using: &random)
          chunks += Self.buffers(1, pages: pages, in: pool)
          let start = try Self.address(of: chunks[number]), end = start + UInt(pages * Self.page)
          range = min(range.lowerBound, start)..<(range.upperBound == .max ? end : max(range.upperBound, end))
          let resident = Self.residentPages(range.lowerBound, range.count)
          #expect(resident * Self.page == pool.used.bytes && resident <= 256)
        }
        pool.freeAll()
        #expect(Self.residentPages(range.lowerBound, range.count) == 0)
        keep(chunks)
      }
    }

    @Test("Buffers that make room for each other pass their pages on, and print(pool) shows those that lie free")
    func recycled() throws {
      let pool = ChunkPool(budget: .bytes(32 * Self.page))
      let chunks = Self.buffers(4, pages: 16, in: pool)
      for _ in 0..<3 { for chunk in chunks { try chunk.ensureReady() } }
      #expect(Set(try chunks.map { try Self.address(of: $0) }).count == 2)
      #expect("\(pool)".contains(", free pages 0 bytes, "))
      chunks[3].invalidate()
      #expect("\(pool)".contains(", free pages \(ByteCount.bytes(16 * Self.page)), "))
      keep(chunks)
    }

    /// What the system notes about the mapping in which an address lies.
    private static func flags(of address: UInt) -> [Substring] {
      guard let file = fopen("/proc/self/smaps", "re") else { return [] }
      defer { fclose(file) }
      var line = [CChar](repeating: 0, count: 4_096)
      var isInside = false
      while fgets(&line, 4_096, file) != nil {
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let ends = text.prefix { $0 != " " }.split(separator: "-").map { UInt($0, radix: 16) }
        if ends.count == 2, let start = ends[0], let end = ends[1] { isInside = start <= address && address < end }
        if isInside, text.hasPrefix("VmFlags:") { return text.split(whereSeparator: \.isWhitespace).dropFirst() + [] }
      }
      return []
    }

    @Test(
      "Huge pages are asked for or refused in all address space, that which is there and that which comes",
      .enabled(if: access("/sys/kernel/mm/transparent_hugepage/enabled", F_OK) == 0, "this kernel has no huge pages"))
    func hugePages() throws {
      let pool = ChunkPool(budget: .bytes(64 * Self.page))
      let chunks = Self.buffers(2, pages: 16, in: pool)
      #expect(!pool.usesHugePages)
      let first = try Self.address(of: chunks[0])
      // Refused, and not only not asked for: some systems use them for whatever does not refuse.
      #expect(Self.flags(of: first).contains("nh"))
      pool.usesHugePages = true
      #expect(pool.usesHugePages && Self.flags(of: first).contains("hg"))
      try chunks[0].withBytes { #expect($0.unsafeLoad(fromByteOffset: 4_096, as: UInt8.self) == 1) }
      // A pool that has no address space yet.
      let later = ChunkPool(budget: .bytes(64 * Self.page))
      later.usesHugePages = true
      let buffer = Self.buffers(1, pages: 16, in: later)[0]
      let second = try Self.address(of: buffer)
      #expect(Self.flags(of: second).contains("hg"))
      pool.usesHugePages = false
      #expect(Self.flags(of: first).contains("nh"))
      pool.freeAll()
      #expect(Self.residentPages(first, 16 * Self.page) == 0)
      keep(chunks)
    }
  }
#endif
