import MemChunks
import TestSupport
import Testing

@Suite("Thrash, and what generating costs")
struct ThrashTests {
  @Test("Case 22: eleven equal chunks in a cycle through a budget of ten: no hits, and the signal is raised once")
  func cycle() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let reports = Locked<[ThrashReport]>([])
    pool.observe { event in if case .thrashing(let report) = event { reports.withLock { $0.append(report) } } }
    let chunks = pool.tracked(11, of: 1)
    for _ in 0..<100 {
      for chunk in chunks { try chunk.ensureReady() }
    }
    let numbers = pool.statistics
    #expect(numbers.hits == 0 && numbers.misses == 1_100 && numbers.generations == 1_100)
    #expect(numbers.thrashSignals == 1 && numbers.thrash != nil)
    let report = try #require(reports.current.first)
    #expect(reports.current.count == 1)
    #expect(2 * report.returns >= report.generations && report.bytesGeneratedAgain == report.returns)
    // Eleven would be enough, and that is what it says.
    #expect(report.budget == 10 && (11...20).contains(report.workingSet))
    pool._checkInvariants()
  }

  @Test("Case 22: the signal ends when the cycle fits, and is raised again when it does not")
  func signalledAgain() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunks = pool.tracked(11, of: 1)
    func cycle(_ rounds: Int) throws {
      for _ in 0..<rounds { for chunk in chunks { try chunk.ensureReady() } }
    }
    try cycle(50)
    #expect(pool.statistics.thrashSignals == 1 && pool.statistics.thrash != nil)
    pool.budget = .bytes(11)
    try cycle(50)
    let settled = pool.statistics.generations
    try cycle(50)
    #expect(pool.statistics.generations == settled)
    // New chunks are generated, none of which comes back.
    for number in 0..<200 { try pool.tracked("new\(number)", 1).ensureReady() }
    #expect(pool.statistics.thrash == nil)
    pool.budget = .bytes(10)
    try cycle(50)
    #expect(pool.statistics.thrashSignals == 2 && pool.statistics.thrash != nil)
  }

  @Test("Case 22: no signal for what was discarded, invalidated or freed for other reasons, nor for a scan")
  func noSignal() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunk = pool.tracked("a", 5)
    for round in 0..<400 {
      try chunk.ensureReady()
      switch round % 4 {
      case 0: chunk.discard()
      case 1: chunk.invalidate()
      case 2: pool.freeAll()
      default: pool.trim(to: .bytes(0))
      }
    }
    for number in 0..<1_000 { try pool.tracked("scan\(number)", 1).ensureReady() }
    #expect(pool.statistics.thrashSignals == 0 && pool.statistics.thrash == nil)
  }

  @Test("Case 25: the time that generate took is measured and remembered across frees")
  func measuredCost() throws {
    let clock = ManualClock()
    let pool = ChunkPool(budget: .bytes(10), time: clock.read)
    let dear = pool.tracked("dear", 4), cheap = pool.tracked("cheap", 4)
    dear.hooks.generate = { _ in clock.advance(by: .milliseconds(700)) }
    cheap.hooks.generate = { _ in clock.advance(by: .microseconds(3)) }
    try dear.ensureReady()
    try cheap.ensureReady()
    #expect(pool.snapshot().map(\.nanoseconds) == [700_000_000, 3_000])
    #expect(pool.statistics.nanosecondsGenerating == 700_003_000)
    pool.freeAll()
    // Generated again: until that is done, what it took last is still known.
    let remembered = Locked<UInt64?>(nil)
    dear.hooks.generate = { [weak pool] _ in
      remembered.set(pool!.snapshot().first { $0.label == "dear" }?.nanoseconds)
      clock.advance(by: .milliseconds(600))
    }
    try dear.ensureReady()
    #expect(remembered.current == 700_000_000)
    #expect(pool.snapshot().map(\.nanoseconds) == [600_000_000])
    // A failure measures nothing.
    dear.discard()
    dear.hooks.generate = { _ in
      clock.advance(by: .seconds(5))
      throw Broken()
    }
    try? dear.ensureReady()
    dear.hooks.generate = { [weak pool] _ in
      remembered.set(pool!.snapshot().first { $0.label == "dear" }?.nanoseconds)
    }
    try dear.ensureReady()
    #expect(remembered.current == 600_000_000 && pool.snapshot().map(\.nanoseconds) == [0])
    #expect(pool.snapshot().map(\.generations) == [3])
  }
}
