import TestSupport
import Testing

@testable import ChunkTrace

/// Traces whose objects are generated from others.
@Suite struct NestedReplayTests {
  @Test("no policy is below the bound, and a curve's points are replays", arguments: UInt64(1)...4)
  func boundAndCurve(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let trace = makeNestedTrace(&random)
    for percent in [5, 20, 40, 80] {
      let budget = trace.footprint * percent / 100
      let bound = trace.leastMissedCost(budget: budget)
      for policy in ReplayPolicy.allCases {
        let result = trace.replay(policy, budget: budget)
        #expect(result.missedCost >= bound, "\(policy), \(percent) %")
        #expect(result.missesOfObjects.allSatisfy { $0 > 0 }, "\(policy), \(percent) %")
        guard policy == .lru else { continue }
        let points = BudgetCurve(trace, budgets: [budget]).points
        #expect(points.map(\.misses) == [result.misses] && points.map(\.missedCost) == [result.missedCost])
      }
    }
  }

  private func makeTrace(_ needs: [[Int32]], peaks: [Int] = [], requests: [UInt64]) -> Trace {
    var trace = Trace()
    for (index, needs) in needs.enumerated() {
      let object = trace.add(key: UInt64(index), size: 10, cost: UInt64(index + 1))
      trace.setNeeds(needs, workingPeak: peaks.isEmpty ? 0 : peaks[index], of: object)
    }
    for key in requests { trace.append(key: key, size: 10, cost: 1) }
    return trace
  }

  @Test func whatIsNeededIsAskedForWhereItIsMissing() {
    let trace = makeTrace([[], [0, 0]], requests: [1, 1, 0])
    let all = trace.replay(.lru, budget: 100)
    #expect(all.missesOfObjects == [1, 1] && all.requests == 5 && all.missedCost == 3)
    // There is not room for both.
    let one = trace.replay(.lru, budget: 10)
    #expect(one.missesOfObjects == [3, 1] && one.requests == 5)
  }

  @Test("what needs itself, at once or through others, is served once")
  func rings() {
    for policy in ReplayPolicy.allCases {
      let result = makeTrace([[1, 0], [2], [0, 1]], requests: [0, 1, 2]).replay(policy, budget: 30)
      #expect(result.missesOfObjects == [1, 1, 1], "\(policy)")
    }
  }

  @Test("what never fits asks for what it needs once in a request, however many need it")
  func whatNeverFits() {
    // Each needs the next one twice: asked for anew each time, these would be 2 to the 40th requests.
    let needs = (1..<40).map { [Int32($0), Int32($0)] } + [[]]
    let result = makeTrace(needs, requests: [0, 0]).replay(.lru, budget: 5)
    #expect(result.missesOfObjects == [2] + [Int32](repeating: 4, count: 39))
  }

  @Test func roomIsMadeForAllThatGeneratingTakes() {
    let trace = makeTrace([[], []], peaks: [0, 25], requests: [0, 1, 0, 1])
    #expect(trace.replay(.lru, budget: 34).missesOfObjects == [2, 1])
    #expect(trace.replay(.lru, budget: 35).missesOfObjects == [1, 1])
  }

  @Test func whatOnlyGenerationsAskForIsUsedAsOftenAsTheyMay() {
    let advice = Advice(makeTrace([[], [0], []], requests: [1, 2, 1]), budget: 30)
    #expect(advice.usedOnce.objects == 1)
    #expect(advice.requests == 3 && advice.objects == 3)
  }
}

/// Objects are in three layers, made from those below; some take more while they are made.
func makeNestedTrace(_ random: inout SeededGenerator) -> Trace {
  var trace = makeTrace(objects: 90, requests: 3_000, &random)
  let count = Int32(trace.objects.count)
  for object in 0..<count {
    let below = object * 3 / count * count / 3
    let needs = (0..<Int.random(in: 0...3, using: &random)).map { _ in Int32.random(in: 0...below, using: &random) }
    let size = trace.objects[Int(object)].size
    let peak = Bool.random(using: &random) ? size + Int.random(in: 0...size, using: &random) : 0
    trace.setNeeds(needs.filter { $0 < below }, workingPeak: peak, of: object)
  }
  return trace
}
