import MemChunks
import TestSupport
import Testing

@testable import ChunkTrace

/// Work that a program plans by its budget counts by the plan for the budget that is asked about.
@Suite struct PlannedWorkTests {
  private let clock = ManualClock()
  private let plans = [
    BudgetPlan(budget: 20, generations: 100, generatedBytes: 1_000, nanoseconds: 7_000_000),
    BudgetPlan(budget: 50, generations: 30, generatedBytes: 300, nanoseconds: 900_000),
    BudgetPlan(budget: 80, generations: 3, generatedBytes: 30, nanoseconds: 30_000),
  ]

  private func chunk(_ label: String, in pool: ChunkPool) -> ValueChunk<Int> {
    ValueChunk(in: pool, label: label, size: 10) { [clock] in
      clock.advance(by: .microseconds(100))
      return 0
    }
  }

  private func record(_ body: (ChunkPool, TraceRecorder) throws -> Void) throws -> Trace {
    let pool = ChunkPool(budget: .bytes(50), time: clock.read)
    let recorder = TraceRecorder(of: pool)
    try body(pool, recorder)
    return try TraceFile(bytes: recorder.finish(), file: "session").trace
  }

  private func requests(_ trace: Trace) -> [String] { trace.requests.map { trace.objects[Int($0)].label } }

  /// Two uses of a chunk around work that is planned.
  private func makeTrace() throws -> Trace {
    try record { pool, recorder in
      let (other, planned) = (chunk("other", in: pool), chunk("planned", in: pool))
      for _ in 0..<2 { try other.ensureReady() }
      try recorder.planned {
        for _ in 0..<30 {
          try planned.ensureReady()
          try other.ensureReady()
          planned.discard()
        }
        return plans.reversed()
      }
      try other.ensureReady()
    }
  }

  @Test func plansTakeThePlaceOfTheRequestsThatFollowedThem() throws {
    let trace = try makeTrace()
    #expect(requests(trace) == ["other", "other", "other"])
    #expect(trace.plannedWork == [PlannedWork(plans)] && trace.leastBudget == 20)
  }

  @Test func replaysCountThePlanForTheirBudget() throws {
    let trace = try makeTrace()
    for policy in ReplayPolicy.allCases {
      for (budget, plan) in [(19, 0), (20, 0), (49, 0), (50, 1), (79, 1), (80, 2), (.max / 4, 2)] {
        let result = trace.replay(policy, budget: budget)
        #expect(result.requests == 3 + plans[plan].generations)
        #expect(result.misses == 1 + plans[plan].generations)
        #expect(result.missedBytes == 10 + plans[plan].generatedBytes)
        #expect(result.requestedBytes == 30 + plans[plan].generatedBytes)
        #expect(result.missedCost == 100_000 + plans[plan].nanoseconds)
        #expect(trace.leastMissedCost(budget: budget) == result.missedCost)
      }
    }
    let points = BudgetCurve(trace, budgets: [50, 20]).points
    #expect(points.map(\.misses) == [101, 31] && points.map(\.missedBytes) == [1_010, 310])
    #expect(points.map(\.missedCost) == [7_100_000, 1_000_000])
  }

  @Test func adviceKnowsWhichBudgetStopsPlansFromGeneratingAgain() throws {
    let advice = Advice(try makeTrace(), budget: 30)
    #expect(advice.curve.points.map(\.budget).filter { $0 < 1_000 } == [20, 30, 50, 80])
    #expect(advice.firstCost == 130_000 && advice.leastCost == 7_100_000)
    #expect(advice.savedByNextMegabyte == 6_970_000)
    let thrash = try #require(advice.thrash)
    #expect(thrash.generations == 101 && thrash.again == 97 && thrash.budgetThatStopsIt == 80)
    #expect(Advice(try makeTrace(), budget: 80).thrash == nil)
  }

  @Test func workThatFailedHadNoPlan() throws {
    struct Failure: Error {}
    let trace = try record { pool, recorder in
      let planned = chunk("planned", in: pool)
      #expect(throws: Failure.self) {
        try recorder.planned {
          try planned.ensureReady()
          throw Failure()
        }
      }
      try recorder.planned {
        try planned.ensureReady()
        return []
      }
    }
    #expect(requests(trace) == ["planned", "planned"] && trace.plannedWork.isEmpty && trace.leastBudget == 0)
  }

  @Test func plansMayOverlap() throws {
    let trace = try record { pool, recorder in
      let planned = chunk("planned", in: pool)
      try recorder.planned {
        try recorder.planned {
          try planned.ensureReady()
          return plans
        }
        try planned.ensureReady()
        return [plans[2]]
      }
    }
    #expect(trace.requests.isEmpty && trace.leastBudget == 80)
    #expect(trace.replay(.lru, budget: 100).misses == 6)
  }

  @Test func whatAPlanDidThatWasCutOffIsReplayed() throws {
    let pool = ChunkPool(budget: .bytes(50))
    let (recorder, planned) = (TraceRecorder(of: pool), chunk("planned", in: pool))
    var bytes: [UInt8] = []
    try recorder.planned {
      try planned.ensureReady()
      bytes = recorder.finish()
      return plans
    }
    let trace = try TraceFile(bytes: bytes, file: "cut").trace
    #expect(requests(trace) == ["planned"] && trace.plannedWork.isEmpty)
  }

  @Test func recordingsOfTheThirdVersionAreRead() throws {
    var block = TraceFormat.emptyBlock
    // Chunk 1 is generated: 10 bytes, 5 ns, no time since. A token holds it.
    block += [1 << 3 | 1, 10, 5, 0, (1 << 3 | 1) << 3 | 6 & 0x7f, 0]
    TraceFormat.close(&block)
    let file = try TraceFile(bytes: TraceFormat.magic + [3] + block + TraceFormat.endMark, file: "old")
    #expect(file.trace.requests.count == 1)
  }

  @Test("an end without a beginning, and plans that are cut off, are damage at their place")
  func damage() throws {
    func file(_ words: [UInt64]) throws -> TraceFile {
      var block = TraceFormat.emptyBlock
      for word in words { TraceFormat.append(word, to: &block) }
      TraceFormat.close(&block)
      return try TraceFile(bytes: TraceFormat.magic + [4] + block + TraceFormat.endMark, file: "made")
    }
    let (begin, end): (UInt64, UInt64) = (8 << 3 | 6, 9 << 3 | 6)
    let one = UInt64(1 << 4) << 3
    #expect(try file([begin, 0, end | one, 1, 2, 3, 4, 0]).trace.plannedWork.count == 1)
    #expect(throws: TraceError.damaged(file: "made", offset: 16, reason: "a plan ends that has not begun")) {
      try file([end, 0])
    }
    #expect(throws: TraceError.damaged(file: "made", offset: 18, reason: "plans do not end")) {
      try file([begin, 0, end | 100 * one, 1, 2, 3, 4, 0])
    }
    #expect(throws: TraceError.damaged(file: "made", offset: 20, reason: "a size of 2251799813685248 bytes cannot be"))
    {
      try file([begin, 0, end | one, 1 << 51, 2, 3, 4, 0])
    }
  }
}
