package import ChunkTrace
package import ToolSupport

extension JSON {
  /// What one policy made of a trace.
  package static func result(of policy: ReplayPolicy, _ result: ReplayResult) -> JSON {
    .object([
      ("policy", .string(policy.rawValue)), ("misses", .integer(result.misses)),
      ("missRatio", .number(result.missRatio)), ("missedBytes", .integer(result.missedBytes)),
      ("byteMissRatio", .number(result.byteMissRatio)), ("missedNanoseconds", .nanoseconds(result.missedCost)),
    ])
  }

  /// A duration, or the longest that there is.
  static func nanoseconds(_ count: UInt64) -> JSON { .integer(Int(clamping: count)) }

  /// What a program plans with one budget and those above it.
  static func plan(_ plan: BudgetPlan) -> JSON {
    .object([
      ("budgetBytes", .integer(plan.budget)), ("generations", .integer(plan.generations)),
      ("generatedBytes", .integer(plan.generatedBytes)), ("nanoseconds", .nanoseconds(plan.nanoseconds)),
    ])
  }

  /// What one budget makes of a trace.
  package static func point(_ point: BudgetCurve.Point) -> JSON {
    .object([
      ("budgetBytes", .integer(point.budget)), ("misses", .integer(point.misses)),
      ("missedBytes", .integer(point.missedBytes)), ("missedNanoseconds", .nanoseconds(point.missedCost)),
    ])
  }
}
