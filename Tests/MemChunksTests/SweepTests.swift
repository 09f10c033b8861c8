import MemChunks
import TestSupport
import Testing

/// Cases 45 and 56: chunks that let go of chunks while they are freed, and pools that go in the middle of something.
@Suite("Sweep", .timeLimit(.hang))
struct SweepTests {
  /// A chunk whose product holds other chunks, and nothing else does.
  private final class Holder: MemChunk, @unchecked Sendable {
    let tally: ByteTally
    var held: [Holder] = []

    init(in pool: ChunkPool, label: String, tally: ByteTally) {
      self.tally = tally
      super.init(in: pool, label: label)
    }

    override var size: Int { 1 }
    override func generate() { tally.add(1) }
    override func free() {
      tally.add(-1)
      held = []
    }
  }

  /// The ways to free what is ready.
  private static let sweeps: [@Sendable (ChunkPool) -> Void] = [
    { $0.freeAll() },
    { $0.trim(to: .bytes(0)) },
    { $0.report(.critical) },
    { $0.budget = .bytes(0) },
    { $0.keepLimit = .bytes(0) },
    { $0.free(unusedFor: .zero) },
    { pool in
      let large = TrackedChunk(in: pool, label: "large", size: pool.budget.bytes)
      #expect(outcome { try large.ensureReady() } == .ready)
    },
  ]

  @Test("Case 45: free() of a drops the last reference to b, in the same sweep", arguments: 0..<7)
  func dropsAnother(way: Int) async throws {
    let tally = ByteTally()
    let pool = ChunkPool(budget: .bytes(100), time: ManualClock().read)
    try await noHang { _ in
      let roots = (0..<5).map { Holder(in: pool, label: "root \($0)", tally: tally) }
      for (index, root) in roots.enumerated() {
        let child = Holder(in: pool, label: "child \(index)", tally: tally)
        let grandchild = Holder(in: pool, label: "grandchild \(index)", tally: tally)
        // Used before, between and after their holder, so that each may come first in the sweep.
        if index % 3 == 0 { try! child.ensureReady() }
        try! root.ensureReady()
        try! child.ensureReady()
        try! grandchild.ensureReady()
        if index % 2 == 0 { try! root.ensureReady() }
        child.held = [grandchild]
        root.held = [child]
      }
      Self.sweeps[way](pool)
      precondition(tally.bytes == 0, "\(tally.bytes)")
    }
    #expect(pool.used == .bytes(0))
    pool._checkInvariants()
  }

  @Test("Case 45: rings of chunks that hold each other while they are ready", arguments: 0..<7)
  func rings(way: Int) async throws {
    let tally = ByteTally()
    let pool = ChunkPool(budget: .bytes(100), time: ManualClock().read)
    try await noHang { _ in
      // Nothing but the ring keeps its chunks; the sweep breaks it somewhere.
      for ring in 0..<4 {
        let chunks = (0..<5).map { Holder(in: pool, label: "\(ring).\($0)", tally: tally) }
        for chunk in chunks { try! chunk.ensureReady() }
        for (index, chunk) in chunks.enumerated() { chunk.held = [chunks[(index + 1) % 5], chunks[(index + 2) % 5]] }
      }
      precondition(tally.bytes == 20)
      Self.sweeps[way](pool)
      precondition(tally.bytes == 0, "\(tally.bytes)")
    }
    #expect(pool.used == .bytes(0))
    pool._checkInvariants()
  }

  @Test("Case 45: sweeps by several threads at once, over chunks that hold each other")
  func together() async throws {
    let tally = ByteTally()
    let pool = ChunkPool(budget: .bytes(100))
    try await noHang(onThreads: 4) { index in
      for _ in 0..<Stress.rounds(300) {
        let chunks = (0..<4).map { Holder(in: pool, label: "\(index).\($0)", tally: tally) }
        for chunk in chunks { try! chunk.ensureReady() }
        // Each sweep of another thread may have freed some; held chunks are set while theirs are in use.
        for (position, chunk) in chunks.enumerated() {
          try! chunk.withReady { chunk.held = [chunks[(position + 1) % 4]] }
        }
        Self.sweeps[index % 3](pool)
      }
    }
    pool.freeAll()
    #expect(tally.bytes == 0)
    #expect(pool.used == .bytes(0))
    pool._checkInvariants()
  }

  @Test("Case 45: a long chain of chunks that hold each other is let go of from its end")
  func chain() async throws {
    let tally = ByteTally()
    let pool = ChunkPool(budget: .bytes(10_000))
    let head = Locked<Holder?>(nil)
    try await noHang { _ in
      for index in 0..<500 {
        let chunk = Holder(in: pool, label: "\(index)", tally: tally)
        try! chunk.ensureReady()
        if let old = head.current { chunk.held = [old] }
        head.set(chunk)
      }
      precondition(tally.bytes == 500)
      head.set(nil)
      precondition(tally.bytes == 0)
    }
    #expect(pool.used == .bytes(0))
  }

  @Test("Case 56: the pool is dropped inside a chunk's free(), generate(), size and observer", arguments: 0..<4)
  func poolDroppedInside(place: Int) async throws {
    let box = Locked<ChunkPool?>(ChunkPool(budget: .bytes(20)))
    let chunk = TrackedChunk(in: box.current!, label: "chunk", size: 6)
    let other = TrackedChunk(in: box.current!, label: "other", size: 6)
    let drop: @Sendable () -> Void = { box.set(nil) }
    let isArmed = Locked(false)
    switch place {
    case 0: chunk.hooks.free = { _ in drop() }
    case 1: chunk.hooks.generate = { _ in drop() }
    case 2: chunk.hooks.size = { _ in if isArmed.current { drop() } }
    default: box.current!.observe { event in if case .generated("chunk", _, _, _) = event { drop() } }
    }
    let ending = Locked<Outcome?>(nil)
    try await noHang { _ in
      try! other.ensureReady()
      isArmed.set(true)
      let outcome = outcome {
        try chunk.ensureReady()
        chunk.discard()
      }
      ending.set(outcome)
    }
    // Only a pool that goes before the product is there is an error.
    #expect(ending.current == (place == 1 || place == 2 ? .closed(afterFork: false) : .ready))
    #expect(box.current == nil)
    #expect(outcome { _ = try other.pin() } == .closed(afterFork: false))
    #expect(chunk.generations == chunk.frees)
    #expect(other.generations == 1 && other.frees == 1)
  }

  @Test("Case 56: the pool is dropped while products are in use: they stay whole, and go once with their last use")
  func poolDroppedInUse() throws {
    var pool: ChunkPool? = ChunkPool(budget: .bytes(40))
    let chunks = (0..<3).map { TrackedChunk(in: pool!, label: "\($0)", size: 6) }
    let value = ValueChunk(in: pool!, label: "value", size: 4) { [1, 2, 3] }
    let pin = try chunks[1].pin()
    let valuePin = try value.pin()
    try chunks[2].ensureReady()
    try chunks[0].withReady {
      pool = nil
      #expect(chunks[0].isWhole && chunks[1].isWhole)
      #expect(chunks[2].frees == 1)
      // What is there can still be used; nothing new is made.
      #expect(outcome { try chunks[0].withReady {} } == .ready)
      #expect(outcome { try chunks[2].ensureReady() } == .closed(afterFork: false))
      value.invalidate()
      #expect(valuePin.value() == [1, 2, 3])
    }
    #expect(chunks[0].frees == 1)
    #expect(chunks[1].frees == 0 && chunks[1].isWhole)
    pin.unpin()
    valuePin.unpin()
    #expect(chunks.map { $0.frees } == [1, 1, 1])
    #expect(pool == nil)
  }

  @Test("Case 56: a frame that outlives the pool protects nothing and ends quietly")
  func frameOutlivesPool() throws {
    var pool: ChunkPool? = ChunkPool(budget: .bytes(40))
    let chunk = TrackedChunk(in: pool!, label: "chunk", size: 6)
    let frame = pool!.beginFrame()
    try chunk.ensureReady()
    pool = nil
    #expect(chunk.frees == 1)
    frame.end()
    #expect(outcome { try chunk.ensureReady() } == .closed(afterFork: false))
  }

  @Test("Case 56: late frees, prefetches and groups that outlive the pool")
  func othersOutlivePool() async throws {
    let box = Locked<ChunkPool?>(ChunkPool(budget: .bytes(40)))
    let group = ChunkGroup(in: box.current!, label: "group")
    let late = Locked<LateFree?>(nil)
    let chunk = TrackedChunk(in: box.current!, group: group, label: "chunk", size: 6)
    chunk.hooks.free = { chunk in late.set(chunk.deferFree()) }
    let isSlow = Gate()
    let slow = TrackedChunk(in: box.current!, label: "slow", size: 6)
    slow.hooks.generate = { _ in isSlow.wait() }
    let next = TrackedChunk(in: box.current!, label: "next", size: 6)
    try await noHang { _ in
      try! chunk.ensureReady()
      let prefetch = box.current!.prefetch([slow, next])
      isSlow.waitForArrivals()
      box.set(nil)
      precondition(chunk.frees == 1 && group.totals.freeing == 6)
      isSlow.open()
      precondition(prefetch.wait().isEmpty)
      late.current!.finish()
      late.set(nil)
      precondition(group.totals.freeing == 0)
    }
    #expect(slow.generations == 1 && slow.frees == 1)
    #expect(next.generations == 0)
  }
}
