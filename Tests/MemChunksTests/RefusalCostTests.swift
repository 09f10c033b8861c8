import MemChunks
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc

  /// Case 53: refusals cost bounded work. Counted in the processor time of the one thread that asks, against the same
  /// thing in a small pool; a refusal that looked at every chunk would be a hundred times as dear.
  @Suite("Refusal cost", .serialized, .timeLimit(.hang))
  struct RefusalCostTests {
    #if DEBUG
      private static let many = 100_000
    #else
      private static let many = 1_000_000
    #endif

    private static func processorTime() -> Int {
      var now = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)
      return now.tv_sec * 1_000_000_000 + now.tv_nsec
    }

    private final class Small: MemChunk, @unchecked Sendable {
      override var size: Int { 1 }
    }

    private enum Holder: CaseIterable { case pins, frame }

    /// Nanoseconds for the first refusal, and for the thousand after it, where `count` chunks are held.
    private static func cost(of holder: Holder, _ count: Int) throws -> (first: Int, thousand: Int) {
      let pool = ChunkPool(budget: .bytes(count))
      let chunks = (0..<count).map { _ in Small(in: pool) }
      if holder == .pins {
        let pins = try pool.pin(chunks)
        let cost = try costOfRefusals(in: pool)
        pins.unpin()
        return cost
      }
      let frame = pool.beginFrame()
      for chunk in chunks { try chunk.ensureReady() }
      let cost = try costOfRefusals(in: pool)
      frame.end()
      keep(chunks)
      return cost
    }

    private static func costOfRefusals(in pool: ChunkPool) throws -> (first: Int, thousand: Int) {
      let wanted = Small(in: pool, label: "wanted")
      let start = processorTime()
      guard case .noRoom = outcome({ try wanted.ensureReady() }) else { throw Mishap(1) }
      let first = processorTime()
      for _ in 0..<1_000 {
        guard case .noRoom = outcome({ try wanted.ensureReady() }) else { throw Mishap(2) }
      }
      let end = processorTime()
      // The pool's own tally shows that they were refusals, and nothing was freed for them.
      guard pool.statistics.refusals == 1_001, pool.statistics.frees == 0 else { throw Mishap(3) }
      return (first - start, end - first)
    }

    @Test("Case 53: the thousandth refusal among a million parked or protected chunks costs no more than among few")
    func bounded() throws {
      for holder in Holder.allCases {
        let few = try Self.cost(of: holder, 1_000)
        let many = try Self.cost(of: holder, Self.many)
        #expect(many.thousand < 10 * few.thousand + 5_000_000, "\(holder): \(many) against \(few)")
        print("case 53: \(holder), \(Self.many) chunks: first \(many.first) ns, then \(many.thousand / 1_000) ns each")
      }
    }

    /// Nanoseconds for a thousand refusals inside a scope, where half of `count` chunks could be freed, and a group is bound
    /// to another thread: what the request may have freed is not all there is.
    private static func costBesideBoundGroup(_ count: Int) throws -> Int {
      let pool = ChunkPool(budget: .bytes(count))
      let group = ChunkGroup(in: pool, label: "bound")
      let isBound = Gate(), isOver = Gate()
      let owner = TestThread {
        group.bindToCurrentThread()
        isBound.open()
        isOver.wait()
      }
      isBound.wait()
      let chunks = (0..<count).map { _ in Small(in: pool) }
      for chunk in chunks.prefix(count / 2) { try chunk.ensureReady() }
      let wanted = Wanted(in: pool, bytes: count * 3 / 4)
      let time = try pool.frame {
        for chunk in chunks.dropFirst(count / 2) { try chunk.ensureReady() }
        guard case .noRoom = outcome({ try wanted.ensureReady() }) else { throw Mishap(1) }
        let start = processorTime()
        for _ in 0..<1_000 {
          guard case .noRoom = outcome({ try wanted.ensureReady() }) else { throw Mishap(2) }
        }
        return processorTime() - start
      }
      guard pool.statistics.frees == 0 else { throw Mishap(3) }
      isOver.open()
      owner.join()
      keep(chunks)
      return time
    }

    private final class Wanted: MemChunk, @unchecked Sendable {
      private let bytes: Int
      init(in pool: ChunkPool, bytes: Int) {
        self.bytes = bytes
        super.init(in: pool, label: "wanted")
      }
      override var size: Int { bytes }
    }

    @Test("Case 53: refusals beside a group that is bound to another thread are remembered, too")
    func besideBoundGroup() throws {
      let few = try Self.costBesideBoundGroup(1_000)
      let many = try Self.costBesideBoundGroup(Self.many)
      #expect(many < 10 * few + 5_000_000, "\(many) against \(few)")
    }

    @Test("Case 53: refusals that differ in size, and room that comes and goes between them")
    func unlike() throws {
      let pool = ChunkPool(budget: .bytes(Self.many))
      let chunks = (0..<Self.many - 10).map { _ in Small(in: pool) }
      let pins = try pool.pin(chunks)
      let last = TrackedChunk(in: pool, label: "last", size: 10)
      let wanted = (0..<20).map { TrackedChunk(in: pool, label: "wanted", size: 11 + $0) }
      let start = Self.processorTime()
      for round in 0..<1_000 {
        // Each makes the last refusal out of date.
        try last.ensureReady()
        guard case .noRoom = outcome({ try wanted[round % 20].ensureReady() }) else { throw Mishap(1) }
        last.discard()
      }
      let time = Self.processorTime() - start
      // A walk over all chunks would take minutes.
      #expect(time < 10_000_000_000)
      pins.unpin()
      pool.freeAll()
      #expect(pool.used == .bytes(0))
    }
  }
#endif
