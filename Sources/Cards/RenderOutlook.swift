/// What rendering a document would generate with a budget: how it is rendered depends on that.
public struct RenderOutlook: Sendable, Hashable {
  /// The least bytes that this is said of; it holds, about, up to the budget of the next outlook.
  public var budget: Int
  /// See `RenderForecast.bandCount`.
  public var bandCount: Int
  /// How often something would be generated.
  public var generationCount: Int
  /// How many bytes all those products have together.
  public var generatedByteCount: Int
  /// How many nanoseconds of a processor generating them would take.
  public var nanoseconds: UInt64
}

extension OpenRasterFile {
  /// Tells what rendering would generate with other budgets, by what a rendering has measured.
  ///
  ///     let account = try file.render(to: path, in: pool, options: options)
  ///     for outlook in try file.outlooks(account, options: options) { ... }
  ///
  /// Looked at are 64 budgets for each doubling of the one that it was rendered with, that among them, from the least that is
  /// enough to one above which nothing changes, and the least that needs no bands. Those that change nothing are left out.
  ///
  /// Takes time in proportion to the parts of all these renderings. Decodes some rows of one layer for a moment, outside any
  /// pool, where a plan reads layers with another inflater than was measured.
  ///
  /// - Parameters:
  ///   - account: Of a rendering of this document with `RenderOptions.measuresDecoding`.
  ///   - options: Those that it was rendered with.
  /// - Returns: By rising budgets; empty if nothing was measured.
  /// - Throws: As `forecast(budget:options:)`, and what decoding throws.
  public func outlooks(_ account: RenderAccount, options: RenderOptions) throws -> [RenderOutlook] {
    guard let times = account.times else { return [] }
    let work = try RenderWork(self)
    let demand = work.demand(threads: options.threads)
    let plans = try MemoryPlan.plans(demand, around: account.pool.budget)
    let isFast = times.layers.map { $0.inflater == .fast }
    let slowdown = try plans.allSatisfy { $0.plan.isFast == isFast } ? 1 : work.slowdownOfSmallInflater()
    let (tops, curves) = (work.plan.placed.map(\.y), times.layers.map(\.curve))
    func generations(_ plan: MemoryPlan) -> (count: Int, byteCount: Int, nanoseconds: Double) {
      var nanoseconds = 0.0
      let sums = plan.generations(demand) { layer, row in
        let time = curves[layer][row - tops[layer]]
        nanoseconds += plan.isFast[layer] == isFast[layer] ? time : isFast[layer] ? time * slowdown : time / slowdown
      }
      return (sums.count, sums.byteCount, nanoseconds)
    }
    // Passing over rows is not quite what reading them is.
    let told = generations(try work.memoryPlan(demand, budget: account.pool.budget)).nanoseconds
    let correction = told > 0 ? times.layers.reduce(0) { $0 + $1.generating } / told : 1
    return plans.map { budget, plan in
      let (count, byteCount, nanoseconds) = generations(plan)
      let rows = times.workByte * Double(plan.workByteCount(demand))
      return RenderOutlook(
        budget: budget, bandCount: plan.bandCount(height: work.plan.height), generationCount: count,
        generatedByteCount: byteCount, nanoseconds: UInt64(rows + nanoseconds * correction))
    }
  }
}

extension MemoryPlan {
  /// The plans for budgets around one, each with the first of these that leads to it, rising.
  ///
  /// - Throws: `TooSmall` never: the least budget is enough.
  fileprivate static func plans(_ demand: Demand, around budget: Int) throws(TooSmall) -> [(
    budget: Int, plan: MemoryPlan
  )] {
    let least = leastBudget(demand)
    let best = try MemoryPlan(demand, budget: .max / 4)
    var plans = [least: try MemoryPlan(demand, budget: least)]
    /// False where there is nothing more to be found: downwards no plan, upwards no other one.
    func add(_ budget: Int) throws(TooSmall) -> Bool {
      guard budget > least else { return false }
      let plan = try MemoryPlan(demand, budget: budget)
      plans[budget] = plan
      return plan != best
    }
    let steps = 64
    // Far above what is needed there is nothing to look at.
    var start = min(budget, .max / 4)
    while start / 2 > least {
      guard try MemoryPlan(demand, budget: start / 2) == best else { break }
      start /= 2
    }
    var octave = start
    while octave > least / 2 {
      for step in 0..<steps { _ = try add(octave + octave / steps * step) }
      octave /= 2
    }
    octave = start
    while try add(octave) || octave <= least {
      for step in 1..<steps { _ = try add(octave + octave / steps * step) }
      octave *= 2
    }
    var rising = plans.sorted { $0.key < $1.key }.map { (budget: $0.key, plan: $0.value) }
    if let index = rising.firstIndex(where: { $0.plan.bandCount(height: demand.height) == 1 }), index > 0 {
      rising.insert(try leastWithoutBands(demand, rising[index - 1].budget, rising[index].budget), at: index)
    }
    return rising.enumerated().filter { $0 == 0 || rising[$0 - 1].plan != $1.plan }.map(\.element)
  }

  /// The least plan with one band between a budget with which there are more, and one with which there is one.
  private static func leastWithoutBands(
    _ demand: Demand, _ below: Int, _ enough: Int
  ) throws(TooSmall) -> (budget: Int, plan: MemoryPlan) {
    var (below, enough) = (below, enough)
    while enough - below > 1 {
      let middle = (below + enough) / 2
      let plan = try MemoryPlan(demand, budget: middle)
      if plan.bandCount(height: demand.height) == 1 { enough = middle } else { below = middle }
    }
    return (enough, try MemoryPlan(demand, budget: enough))
  }
}
