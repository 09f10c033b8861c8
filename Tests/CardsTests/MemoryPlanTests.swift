import Cards
import TestSupport
import Testing

@Suite struct MemoryPlanTests {
  typealias Demand = MemoryPlan.Demand

  /// Segments of so many layers each, and of what is left over.
  private func slices(of count: Int, _ layers: [Demand.Layer]) -> [Demand.Slice] {
    stride(from: 0, to: layers.count, by: count).map { start in
      let slice = start..<min(start + count, layers.count)
      let rows = layers[slice].map(\.rows)
      return Demand.Slice(
        layers: slice, rows: rows.map(\.lowerBound).min()!..<rows.map(\.upperBound).max()!)
    }
  }

  /// So many layers over the whole canvas, in segments of four.
  private func makePile(_ count: Int, height: Int = 3_000, threads: Int = 2) -> Demand {
    let layers = Array(repeating: Demand.Layer(rows: 0..<height, small: 58_000, fast: 104_000), count: count)
    return Demand(
      height: height, layers: layers, slices: slices(of: 4, layers), row: 32_000, worker: 72_000, fixed: 16_000,
      threads: threads)
  }

  @Test("100 layers of 4000 pixels advance together in 6 MB, most of them faster in 10 MB")
  func hundredLayers() throws {
    let demand = makePile(100)
    let tight = try MemoryPlan(demand, budget: 6 << 20)
    #expect(tight.keepsDecoders && tight.bandCount(height: 3_000) == 1 && tight.workerCount == 2)
    #expect(tight.isFast.count { $0 } < 10)
    let wide = try MemoryPlan(demand, budget: 10 << 20)
    #expect(wide.keepsDecoders && wide.blockHeight == MemoryPlan.tallestKeptBlock)
    #expect(wide.isFast.count { $0 } > 80 && wide.peak <= 10 << 20)
    #expect(try MemoryPlan(demand, budget: 12 << 20).isFast.allSatisfy { $0 })
  }

  @Test("1 000 layers do not fit: bands as tall as they can be, of one height")
  func thousandLayers() throws {
    let plan = try MemoryPlan(makePile(1_000, height: 1_000), budget: 10 << 20)
    #expect(!plan.keepsDecoders && plan.workerCount == 2)
    #expect(plan.bandCount(height: 1_000) == 4 && plan.blockHeight == 250)
    #expect(plan.peak <= 10 << 20)
  }

  @Test func layersThatFollowEachOtherShareTheirMemory() throws {
    // 500 layers, 10 rows each, one below the other.
    let layers = (0..<500).map { Demand.Layer(rows: 10 * $0..<10 * $0 + 10, small: 50_000, fast: 100_000) }
    let demand = Demand(
      height: 5_000, layers: layers, slices: slices(of: 4, layers), row: 1_000,
      worker: 2_000, fixed: 0, threads: 1)
    let plan = try MemoryPlan(demand, budget: 600_000)
    #expect(plan.keepsDecoders && plan.isFast.allSatisfy { $0 })
  }

  @Test("The peak leaves out what layers of one block never hold together")
  func peakOfLayersThatEndWhereTheyBegin() throws {
    // Short layers in one block, four to a segment: decoders go with their segment.
    func peak(_ count: Int, threads: Int, height: Int = 8) throws -> Int {
      let layers = Array(repeating: Demand.Layer(rows: 0..<height, small: 50_000, fast: 50_000), count: count)
      let demand = Demand(
        height: height, layers: layers, slices: slices(of: 4, layers), row: 0, worker: 0, fixed: 0, threads: threads)
      return try MemoryPlan(demand, budget: 64 << 20).peak
    }
    #expect(try peak(40, threads: 1) == 4 * 50_000)
    #expect(try peak(40, threads: 3) == 12 * 50_000)
    // With a further block they all have to stay.
    #expect(try peak(40, threads: 1, height: 9) == 40 * 50_000)
  }

  @Test func fewerThreadsWorkWhereThereIsNoRoomOrNoWorkForMore() throws {
    let demand = makePile(100, threads: 8)
    #expect(try MemoryPlan(demand, budget: MemoryPlan.leastBudget(demand)).workerCount == 1)
    #expect(try MemoryPlan(demand, budget: 64 << 20).workerCount == 8)
    #expect(try MemoryPlan(makePile(7, threads: 8), budget: 64 << 20).workerCount == 2)
    #expect(try MemoryPlan(makePile(0, threads: 8), budget: 64 << 20).workerCount == 1)
  }

  @Test func theLeastBudgetIsEnoughAndOneByteLessIsNot() throws {
    for count in [0, 1, 4, 9, 100] {
      let demand = makePile(count)
      let least = MemoryPlan.leastBudget(demand)
      #expect(try MemoryPlan(demand, budget: least).peak <= least)
      let error = #expect(throws: MemoryPlan.TooSmall.self) { try MemoryPlan(demand, budget: least - 1) }
      #expect(error?.needed == least)
    }
  }

  @Test("No band is so low that layers are decoded again for every row or two, whatever the budget")
  func bandsHaveALeastHeight() throws {
    let demand = makePile(1_000)
    let plan = try MemoryPlan(demand, budget: MemoryPlan.leastBudget(demand))
    #expect(!plan.keepsDecoders && plan.blockHeight >= MemoryPlan.leastBandHeight)
  }

  @Test func noPlanExceedsItsBudgetAndMoreRoomNeverMakesMoreBands() throws {
    var random = SeededGenerator(seed: 1)
    for _ in 0..<60 {
      let height = Int.random(in: 1...400, using: &random)
      let layers = (0..<Int.random(in: 0...40, using: &random)).map { _ in
        let start = Int.random(in: 0..<height, using: &random)
        let small = Int.random(in: 1...90_000, using: &random)
        return Demand.Layer(
          rows: start..<Int.random(in: start + 1...height, using: &random), small: small,
          fast: small + Int.random(in: 0...60_000, using: &random))
      }
      let demand = Demand(
        height: height, layers: layers, slices: slices(of: 3, layers),
        row: .random(in: 8...40_000, using: &random), worker: .random(in: 0...50_000, using: &random),
        fixed: .random(in: 0...50_000, using: &random), threads: .random(in: 1...8, using: &random))
      var budget = MemoryPlan.leastBudget(demand)
      var bands = Int.max
      while budget < 32 << 20 {
        let plan = try MemoryPlan(demand, budget: budget)
        #expect(plan.peak <= budget && plan.blockHeight >= 1 && plan.blockHeight <= height)
        #expect(plan.workerCount >= 1 && plan.workerCount <= demand.threads)
        // With more room a second thread may be worth more than a taller band.
        if plan.workerCount == 1 {
          #expect(plan.bandCount(height: height) <= bands)
          bands = plan.bandCount(height: height)
        }
        budget += 1 + budget / 3
      }
    }
  }
}
