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
  }
#endif
