import ChunkTrace
import TestSupport
import Testing

/// One pass tells what a replay at each budget would.
@Suite struct BudgetCurveTests {
  private func check(_ trace: Trace, _ budgets: [Int]) {
    for point in BudgetCurve(trace, budgets: budgets).points {
      let replay = trace.replay(.lru, budget: point.budget)
      #expect(
        [point.misses, point.missedBytes, Int(point.missedCost)]
          == [replay.misses, replay.missedBytes, Int(replay.missedCost)], "at \(point.budget)")
    }
  }

  @Test("random traces, at budgets from nothing to everything", arguments: UInt64(1)...6)
  func random(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let trace = makeTrace(objects: 60, requests: 3_000, &random)
    check(trace, (0...40).map { trace.footprint * $0 / 40 } + [1, 100, trace.footprint - 1])
  }

  @Test(.enabled(if: SharedTraces.images != nil, "the public traces are not there")) func publicTraces() throws {
    for trace in [try #require(SharedTraces.images), try #require(SharedTraces.blocks)] {
      check(trace, (1...28).map { trace.footprint * $0 * $0 / 784 })
    }
  }

  @Test func aTraceWithoutRequestsCostsNothing() {
    #expect(BudgetCurve(Trace(), budgets: [1]).points.map(\.misses) == [0])
  }
}

/// Requests that favour few objects; sizes and costs differ by a thousand times.
func makeTrace(objects: Int, requests: Int, _ random: inout SeededGenerator) -> Trace {
  let sizes = (0..<objects).map { _ in
    1 << Int.random(in: 0...10, using: &random) + Int.random(in: 0..<9, using: &random)
  }
  let costs = (0..<objects).map { _ in UInt64.random(in: 1...1_000, using: &random) * 1_000 }
  var trace = Trace()
  for _ in 0..<requests {
    let object = Int.random(in: 0...Int.random(in: 0..<objects, using: &random), using: &random)
    trace.append(key: UInt64(object), size: sizes[object], cost: costs[object])
  }
  return trace
}
