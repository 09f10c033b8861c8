/// What a trace says about the budget and the policy of the pool that it came from, in numbers.
///
/// Costs are in nanoseconds, sizes in bytes. "Today" is the budget that was given.
public struct Advice: Sendable {
  /// Today's budget.
  public let budget: Int
  /// How many requests there are beside those of generations and of plans, for how many objects of how many bytes.
  public let requests: Int
  /// See `requests`.
  public let objects: Int
  /// See `requests`.
  public let footprint: Int
  /// What the program plans by the budget.
  public let plannedWork: [PlannedWork]
  /// Generating every object once, and what the thriftiest plans generate: no budget and no policy is below.
  public let firstCost: UInt64
  /// What each policy would generate today, the best first; `offline`, which no pool can be, is not among them.
  public let policies: [(policy: ReplayPolicy, result: ReplayResult)]
  /// What no policy is below today.
  public let leastCost: UInt64
  /// Least recently used over budgets from a hundredth of the footprint, or less, to all of it, and those of plans.
  public let curve: BudgetCurve
  /// Where the curve bends most: more budget saves less per megabyte from there on. Nil where no budget saves anything.
  public let knee: BudgetCurve.Point?
  /// What one megabyte more would save under least recently used, in nanoseconds.
  public let savedByNextMegabyte: UInt64
  /// Set where, under least recently used, at least half of today's generations make again what had been freed.
  public let thrash: Thrash?
  /// Objects that are used once only: keeping them helps nobody.
  public let usedOnce: (objects: Int, bytes: Int)

  /// The numbers of a working set that does not fit.
  public struct Thrash: Sendable {
    /// Today's generations.
    public let generations: Int
    /// How many of them make again what had been freed.
    public let again: Int
    /// The least budget looked at with which at most a quarter of the generations do.
    public let budgetThatStopsIt: Int
    /// What is generated again most, by what that costs; ten at most.
    public let dearest: [(object: Trace.Object, generations: Int)]
  }

  /// Replays a trace under all policies at one budget, and under least recently used at 48 more.
  public init(_ trace: Trace, budget: Int) {
    self.budget = budget
    requests = trace.requests.count
    objects = trace.objects.count
    footprint = trace.footprint
    plannedWork = trace.plannedWork
    firstCost = trace.objects.reduce(0) { $0 + $1.cost } + plannedWork.reduce(0) { $0 + $1.thriftiest.nanoseconds }
    leastCost = trace.leastMissedCost(budget: budget)
    policies = ReplayPolicy.allCases.filter { $0 != .offline }
      .map { ($0, trace.replay($0, budget: budget)) }
      .sorted { ($0.result.missedCost, $0.result.misses) < ($1.result.missedCost, $1.result.misses) }
    let curve = BudgetCurve(trace, budgets: Self.budgets(trace) + [budget, budget + 1 << 20])
    self.curve = curve
    knee = Self.knee(of: curve)
    // Both are among the points.
    let today = curve.points.first { $0.budget == budget }!
    let more = curve.points.first { $0.budget == budget + 1 << 20 }!
    // With room for a large object, small ones may go that had stayed.
    savedByNextMegabyte = today.missedCost - min(today.missedCost, more.missedCost)
    thrash = Self.thrash(trace, today, curve)
    let uses = PossibleUses(trace).requests
    let once = uses.indices.filter { uses[$0].count == 1 }
    usedOnce = (once.count, once.reduce(0) { $0 + trace.objects[$1].size })
  }

  /// Budgets at equal ratios, because what matters at a small one is lost at a large one, and those of plans; none with which
  /// what is planned cannot be done.
  public static func budgets(_ trace: Trace) -> [Int] {
    var budgets = [trace.footprint]
    while budgets.count < 48, let last = budgets.last, last > 1 { budgets.append(last * 7 / 8) }
    let planned = trace.plannedWork.flatMap { $0.plans.map(\.budget) }
    return Set(budgets + planned).filter { $0 >= trace.leastBudget }.sorted()
  }

  /// The point furthest below the straight line between the two ends, of a curve over megabytes.
  private static func knee(of curve: BudgetCurve) -> BudgetCurve.Point? {
    guard let first = curve.points.first, let last = curve.points.last, first.missedCost > last.missedCost else {
      return nil
    }
    func depth(_ point: BudgetCurve.Point) -> Double {
      let along = Double(point.budget - first.budget) / Double(last.budget - first.budget)
      let saved = (Double(first.missedCost) - Double(point.missedCost)) / Double(first.missedCost - last.missedCost)
      return saved - along
    }
    return curve.points.max { depth($0) < depth($1) }
  }

  private static func thrash(_ trace: Trace, _ today: BudgetCurve.Point, _ curve: BudgetCurve) -> Thrash? {
    let first = trace.objects.count + trace.plannedWork.reduce(0) { $0 + $1.thriftiest.generations }
    let again = today.misses - first
    guard again > 0, 2 * again >= today.misses else { return nil }
    let enough = curve.points.first { $0.budget >= today.budget && 4 * ($0.misses - first) <= $0.misses }
    let misses = trace.replay(.lru, budget: today.budget).missesOfObjects
    let dearest = trace.objects.indices.filter { misses[$0] > 1 }
      .sorted { UInt64(misses[$0] - 1) * trace.objects[$0].cost > UInt64(misses[$1] - 1) * trace.objects[$1].cost }
      .prefix(10).map { (trace.objects[$0], Int(misses[$0])) }
    return Thrash(
      generations: today.misses, again: again, budgetThatStopsIt: enough?.budget ?? trace.footprint, dearest: dearest)
  }
}
