import MemChunks
import TestSupport
import Testing

@Suite("Statistics, snapshots, tables, events")
struct StatisticsTests {
  @Test("Hits and misses are exact, also for chunks that were freed, refused or dropped since")
  func exactHits() throws {
    let pool = ChunkPool(budget: .bytes(10))
    var chunks = pool.tracked(6, of: 4)
    chunks[5].declaredSize = 11
    chunks[4].hooks.generate = { _ in throw Broken() }
    var hits = 0
    var misses = 0
    var random = SeededGenerator(seed: 5)
    for step in 0..<3_000 {
      let number = Int.random(in: 0..<6, using: &random)
      let chunk = chunks[number]
      if chunk.isReady { hits += 1 } else { misses += 1 }
      switch step % 4 {
      case 0: try? chunk.ensureReady()
      case 1: try? chunk.withReady {}
      case 2: _ = try? chunk.pin()
      default: try? pool.withReady([chunk]) {}
      }
      switch Int.random(in: 0..<20, using: &random) {
      case 0: chunks[Int.random(in: 0..<4, using: &random)].discard()
      case 1: chunks[0] = pool.tracked("new", 4)
      case 2: chunks[5].declaredSize = [11, -1].randomElement(using: &random)!
      default: break
      }
      if step % 500 == 0 { #expect(pool.statistics.misses == misses) }
    }
    let numbers = pool.statistics
    #expect(numbers.hits == hits && numbers.misses == misses)
    #expect(hits > 500 && misses > 500)
  }

  @Test("Several at once: each chunk is a use of its own, a repeated one counts once; nested uses are hits")
  func severalHits() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunks = pool.tracked(3, of: 2)
    try pool.withReady([chunks[0], chunks[1], chunks[0]]) {
      try chunks[0].withReady {}
      try pool.withReady(chunks) {}
    }
    let numbers = pool.statistics
    #expect(numbers.misses == 3 && numbers.hits == 3)
    #expect(pool.snapshot().map(\.uses).sorted() == [1, 2, 3])
    keep(chunks)
  }

  @Test("All counters, over generations, frees, failures and refusals")
  func counters() throws {
    let clock = ManualClock()
    let pool = ChunkPool(budget: .bytes(10), time: clock.read)
    let chunks = pool.tracked(3, of: 4)
    for chunk in chunks { chunk.hooks.generate = { _ in clock.advance(by: .nanoseconds(50)) } }
    for chunk in chunks { try chunk.ensureReady() }
    let pin = try chunks[2].pin()
    chunks[0].hooks.generate = { _ in throw Broken() }
    try? chunks[0].ensureReady()
    try? pool.tracked("big", 11).ensureReady()
    try? pool.tracked("seven", 7).ensureReady()
    var numbers = pool.statistics
    #expect(numbers.budget == 10 && numbers.keepLimit == 10 && numbers.used == 4 && numbers.ready == 4)
    #expect(numbers.pinned == 4 && numbers.chunks == 1 && numbers.peak == 8 && numbers.overdraft == 0)
    #expect(numbers.generations == 3 && numbers.frees == 2 && numbers.failures == 1 && numbers.refusals == 2)
    #expect(numbers.bytesGenerated == 12 && numbers.nanosecondsGenerating == 150)
    #expect(numbers.misses == 6 && numbers.hits == 1)
    pin.unpin()
    pool.resetPeak()
    numbers = pool.statistics
    #expect(numbers.peak == 4 && numbers.pinned == 0)
    keep(chunks)
  }

  @Test("A snapshot lists what is not empty in the order in which it would be freed, with its state")
  func snapshot() throws {
    let pool = ChunkPool(budget: .bytes(100))
    let group = ChunkGroup(in: pool, label: "icons")
    let chunks = pool.tracked(6, of: 2, group: group)
    for chunk in chunks { try chunk.ensureReady() }
    try chunks[0].ensureReady()
    let pin = try chunks[2].pin()
    let value = ValueChunk(in: pool, label: "value", size: 3) { 1 }
    let old = try value.pin()
    value.invalidate()
    let inside = Locked<[ChunkInfo]>([])
    chunks[5].hooks.free = { [weak pool] _ in inside.set(pool!.snapshot()) }
    chunks[5].discard()
    let rows = inside.current
    #expect(rows.map(\.label) == ["c5", "c1", "c3", "c4", "c0", "c2", "value"])
    #expect(rows.map(\.state) == [.freeing, .ready, .ready, .ready, .ready, .pinned, .retired])
    #expect(rows.map(\.group) == Array(repeating: "icons", count: 6) + [""])
    #expect(rows.map(\.uses) == [1, 1, 1, 1, 2, 2, 1] && rows.allSatisfy { $0.generations == 1 })
    let generating = Locked<[ChunkInfo]>([])
    let last = pool.tracked("last", 5)
    last.hooks.generate = { [weak pool] _ in generating.set(pool!.snapshot()) }
    try last.ensureReady()
    #expect(generating.current.last?.label == "last" && generating.current.last?.state == .generating)
    #expect(generating.current.last?.size == 5 && generating.current.last?.generations == 0)
    try pool.frame {
      try chunks[1].ensureReady()
      #expect(pool.snapshot().first { $0.label == "c1" }?.state == .pinned)
    }
    #expect(pool.snapshot().last { $0.state == .ready }?.label == "c1")
    pin.unpin()
    old.unpin()
    #expect(!pool.snapshot().contains { $0.state != .ready })
    pool._checkInvariants()
    keep(chunks + [value, last])
  }

  @Test("print(pool) is a table: totals, then the chunks, the next victim first, in columns")
  func table() throws {
    let clock = ManualClock()
    let pool = ChunkPool(budget: .megabytes(10), time: clock.read)
    #expect(
      "\(pool)" == """
        ChunkPool: 0 bytes of 10 MB used (ready 0 bytes, generating 0 bytes, being freed 0 bytes, free pages 0 bytes, pinned 0 bytes, peak 0 bytes)
        0 hits, 0 misses, 0 generations, 0 frees, 0 failures, 0 refusals

        """)
    let group = ChunkGroup(in: pool, label: "toolbar")
    let glass = pool.tracked("glass", 131_072, group: group), nameless = pool.tracked("", 1_024)
    glass.hooks.generate = { _ in clock.advance(by: .milliseconds(30)) }
    nameless.hooks.generate = { _ in clock.advance(by: .microseconds(15)) }
    try glass.ensureReady()
    try nameless.ensureReady()
    try nameless.withReady {
      #expect(
        "\(pool)" == """
          ChunkPool: 129 KB of 10 MB used (ready 129 KB, generating 0 bytes, being freed 0 bytes, free pages 0 bytes, pinned 1 KB, peak 129 KB)
          1 hit, 2 misses, 2 generations, 0 frees, 0 failures, 0 refusals
          chunk  group    state     size  uses  made   took
          glass  toolbar  ready   128 KB     1     1  30 ms
          -      -        pinned    1 KB     2     1  15 us

          """)
    }
    let many = pool.tracked(50, of: 1)
    for chunk in many { try chunk.ensureReady() }
    #expect("\(pool)".hasSuffix("and 12 more\n"))
    #expect("\(pool)".split(separator: "\n").count == 2 + 1 + 40 + 1)
    keep(many + [glass, nameless])
  }

  @Test("The observer hears of everything, outside the lock, and may use the pool")
  func observer() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let events = Locked<[String]>([])
    let group = ChunkGroup(in: pool, label: "g")
    pool.observe { [weak pool] event in
      // Looks, and asks for something that is there: all of it takes the lock.
      _ = pool!.statistics
      _ = pool!.snapshot()
      let text =
        switch event {
        case .generated(let label, let group, let size, _): "+\(label)/\(group) \(size)"
        case .freed(let label, let group, let size, let reason): "-\(label)/\(group) \(size) \(reason)"
        case .failed(let label, let group, _): "failed \(label)/\(group)"
        case .refused(let label, _): "refused \(label)"
        case .thrashing: "thrashing"
        case .pressure(let level, let keepLimit): "\(level) \(keepLimit)"
        }
      events.withLock { $0.append(text) }
    }
    func heard() -> [String] {
      events.withLock { events in
        defer { events = [] }
        return events
      }
    }
    var chunks = pool.tracked(4, of: 4, group: group)
    for chunk in chunks[..<3] { try chunk.ensureReady() }
    #expect(heard() == ["+c0/g 4", "+c1/g 4", "-c0/g 4 room", "+c2/g 4"])
    chunks[0].hooks.generate = { _ in throw Broken() }
    try? chunks[0].ensureReady()
    try? pool.tracked("big", 11).ensureReady()
    #expect(heard() == ["-c1/g 4 room", "failed c0/g", "refused big"])
    try chunks[1].ensureReady()
    chunks[1].invalidate()
    chunks[2].discard()
    #expect(heard() == ["+c1/g 4", "-c1/g 4 invalidated", "-c2/g 4 discarded"])
    for chunk in chunks[1...2] { try chunk.ensureReady() }
    pool.trim(to: .bytes(4))
    pool.freeAll()
    try chunks[3].ensureReady()
    pool.free(unusedFor: .zero)
    #expect(heard() == ["+c1/g 4", "+c2/g 4", "-c1/g 4 trimmed", "-c2/g 4 all", "+c3/g 4", "-c3/g 4 unused"])
    try chunks[3].ensureReady()
    chunks.removeLast()
    try chunks[1].ensureReady()
    pool.report(.critical)
    pool.report(.normal)
    #expect(heard() == ["+c3/g 4", "-c3/g 4 dropped", "+c1/g 4", "critical 0", "-c1/g 4 limit", "normal 0"])
    pool.observe(nil)
    try chunks[2].ensureReady()
    #expect(heard().isEmpty)
    pool._checkInvariants()
  }

  @Test("An observer may ask for room that this very step is freeing", arguments: 0..<3)
  func observerWantsRoom(kind: Int) throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunk = pool.tracked("a", 6), wanted = pool.tracked("wanted", 9)
    let done = Locked(0)
    pool.observe { event in
      switch event {
      case .pressure(.critical, _), .failed: break
      default: return
      }
      try! wanted.ensureReady()
      done.withLock { $0 += 1 }
    }
    switch kind {
    case 0:
      try chunk.ensureReady()
      pool.report(.critical)
    case 1:
      chunk.sizeAfter = 11
      #expect(TooLarge { try chunk.ensureReady() } != nil)
    default:
      chunk.sizeAfter = -1
      #expect(chunkError { try chunk.ensureReady() } != nil)
    }
    #expect(done.current == 1 && chunk.frees == 1)
    pool.observe(nil)
    pool._checkInvariants()
  }
}
