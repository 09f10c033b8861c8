/// What a budget leads to, for a program that plans by it what to ask for.
///
/// Such a plan needs no replay: it keeps what it needs, so what it generates is known when it is made.
public struct BudgetPlan: Sendable, Hashable {
  /// The least budget with which the program plans so, in bytes; up to that of the next plan.
  public var budget: Int
  /// How often something is generated.
  public var generations: Int
  /// How many bytes those products have together.
  public var generatedBytes: Int
  /// How many nanoseconds generating them takes, all in all.
  public var nanoseconds: UInt64

  /// Makes a plan's numbers; none of them may be negative.
  public init(budget: Int, generations: Int, generatedBytes: Int, nanoseconds: UInt64) {
    precondition(budget >= 0 && generations >= 0 && generatedBytes >= 0, "a plan's numbers cannot be negative")
    self.budget = budget
    self.generations = generations
    self.generatedBytes = generatedBytes
    self.nanoseconds = nanoseconds
  }
}

/// A part of what a program did that it planned by the budget, in all the ways in which it could.
///
/// What it asked for when it was recorded says nothing about other budgets, so that is not among a trace's requests.
public struct PlannedWork: Sendable, Hashable {
  /// By rising budgets; at least one.
  public let plans: [BudgetPlan]

  /// Makes it of plans in any order.
  ///
  /// - Precondition: There is at least one.
  public init(_ plans: [BudgetPlan]) {
    precondition(!plans.isEmpty, "work that is planned has a plan")
    self.plans = plans.sorted { $0.budget < $1.budget }
  }

  /// The least budget with which it can be done at all, in bytes.
  public var leastBudget: Int { plans[0].budget }

  /// What `budget` bytes lead to; the least budget's plan where they are not enough. O(log plans).
  public func plan(for budget: Int) -> BudgetPlan {
    var (low, high) = (0, plans.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if plans[middle].budget <= budget { low = middle } else { high = middle }
    }
    return plans[low]
  }

  /// The plan that generates least often, and of those the one with the least budget.
  public var thriftiest: BudgetPlan { plans.min { $0.generations < $1.generations }! }
}

extension Trace {
  /// The least budget with which everything planned can be done, in bytes; 0 where nothing is.
  public var leastBudget: Int { plannedWork.reduce(0) { max($0, $1.leastBudget) } }

  /// What all planned work generates with a budget.
  func planned(for budget: Int) -> BudgetPlan {
    var sum = BudgetPlan(budget: budget, generations: 0, generatedBytes: 0, nanoseconds: 0)
    for work in plannedWork {
      let plan = work.plan(for: budget)
      sum.generations += plan.generations
      sum.generatedBytes += plan.generatedBytes
      sum.nanoseconds += plan.nanoseconds
    }
    return sum
  }
}
