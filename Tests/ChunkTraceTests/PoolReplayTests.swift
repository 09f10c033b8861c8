import ChunkTrace
import MemChunks
import TestSupport
import Testing

/// A pool whose chunks do nothing but hold size and cost misses exactly what the replayer says.
@Suite struct PoolReplayTests {
  /// Takes as long to generate as its object costs, on a clock that only it moves, and asks for what that needs.
  private final class Weight: MemChunk, @unchecked Sendable {
    let object: Trace.Object
    let clock: ManualClock
    var needs: [Weight] = []
    var generations = 0

    init(in pool: ChunkPool, _ object: Trace.Object, _ clock: ManualClock) {
      self.object = object
      self.clock = clock
      super.init(in: pool)
    }

    override var size: Int { object.size }
    override var workingPeak: Int { object.workingPeak }
    override func generate() throws {
      for need in needs { try need.ensureReady() }
      generations += 1
      clock.advance(by: .nanoseconds(Int64(object.cost)))
    }
  }

  private func missesInPool(_ trace: Trace, _ policy: EvictPolicy, budget: Int) -> [Int32] {
    let clock = ManualClock()
    let pool = ChunkPool(budget: .bytes(budget), policy: policy, time: clock.read)
    let chunks = trace.objects.map { Weight(in: pool, $0, clock) }
    for chunk in chunks { chunk.needs = chunk.object.needs.map { chunks[Int($0)] } }
    var tooLarge = [Int](repeating: 0, count: chunks.count)
    for object in trace.requests {
      do { try chunks[Int(object)].ensureReady() } catch { tooLarge[Int(object)] += 1 }
    }
    defer { withExtendedLifetime(chunks) {} }
    return zip(chunks, tooLarge).map { Int32($0.generations + $1) }
  }

  private static let policies: [(ReplayPolicy, EvictPolicy)] = [
    (.lru, .lru), (.costAware, .costAware), (.adaptive, .adaptive),
  ]

  private func check(_ trace: Trace, percent: [Int]) {
    for (replayed, policy) in Self.policies {
      for percent in percent {
        let budget = trace.footprint * percent / 100
        let misses = trace.replay(replayed, budget: budget).missesOfObjects
        #expect(missesInPool(trace, policy, budget: budget) == misses, "\(replayed), \(percent) %")
      }
    }
  }

  @Test("random traces", arguments: UInt64(1)...4)
  func random(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    check(makeTrace(objects: 80, requests: 4_000, &random), percent: [1, 10, 30, 60])
  }

  @Test("random traces of chunks that are generated from others", arguments: UInt64(1)...6)
  func nested(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    check(makeNestedTrace(&random), percent: [40, 60, 90])
  }

  /// More hits in a row than the pool's buffer for hits has places.
  @Test func longRunsOfHits() {
    var random = SeededGenerator(seed: 9)
    var trace = makeTrace(objects: 40, requests: 500, &random)
    for step in 0..<12_000 { trace.append(key: UInt64(step % 2), size: 1, cost: 1) }
    for step in 0..<2_000 { trace.append(key: UInt64(step % 40), size: 1, cost: 1) }
    check(trace, percent: [70])
  }

  @Test(.enabled(if: SharedTraces.images != nil && SharedTraces.blocks != nil, "the public traces are not there"))
  func publicTraces() throws {
    for trace in [try #require(SharedTraces.images), try #require(SharedTraces.blocks)] {
      var random = SeededGenerator(seed: 3)
      check(trace.withCosts { _ in UInt64.random(in: 1_000...100_000_000, using: &random) }, percent: [1, 10, 30])
    }
  }

  /// Freeing the largest first is a choice that anybody can write.
  private struct LargestFirst: VictimOrder {
    func key(for use: VictimUse) -> Double { -Double(use.size) }
  }

  @Test func anOrderOfOnesOwnDecides() throws {
    let pool = ChunkPool(budget: .bytes(100), policy: .custom(LargestFirst()))
    let chunks = [10, 50, 40].map { size in ValueChunk(in: pool, size: size) { size } }
    for chunk in chunks { try chunk.ensureReady() }
    let newcomer = ValueChunk(in: pool, size: 20) { 0 }
    try newcomer.ensureReady()
    #expect(chunks.map(\.isReady) == [true, false, true])
    withExtendedLifetime((chunks, newcomer)) {}
  }

  #if DEBUG
    /// Falls with each use, so that the heap would not find the least.
    private struct Falling: VictimOrder {
      func key(for use: VictimUse) -> Double { -Double(use.uses) }
    }

    @Test func anOrderThatCannotWorkIsStopped() async {
      await #expect(processExitsWith: .failure) {
        let pool = ChunkPool(budget: .bytes(100), policy: .custom(Falling()))
        try ValueChunk(in: pool, size: 10) { 0 }.ensureReady()
      }
    }
  #endif
}
