import ChunkTrace
import ToolSupport
import TraceReport

/// `memchunk curve`: what budgets would generate.
struct CurveCommand: Command {
  static let name = "curve"
  static let summary = "what budgets would generate, each and all of them"
  static let help = """
    Says what would have to be generated at budgets from little to all.

    usage: memchunk curve TRACE [--policy NAME] [--salvage] [--json]

      --policy NAME  one of lru, costAware, adaptive, crd, gdsf, sieve (lru)
      --salvage      uses what stands before damage in the file
      --json         writes it as JSON

    For lru the curve is exact and takes little more than one replay, for the
    others every budget is replayed. The last budget is that of all objects
    together: each is generated once.

    examples:
      memchunk curve session.trace
      memchunk curve session.trace --policy costAware --json

    """

  private let input: TraceInput
  private let policy: ReplayPolicy
  private let wantsJSON: Bool

  init(_ arguments: [[UInt8]]) throws(UsageError) {
    let arguments = try Arguments(arguments, flags: TraceInput.flags, options: ["--policy"])
    input = try TraceInput(arguments, of: "curve")
    let name = arguments.value(of: "--policy") ?? "lru"
    guard let policy = ReplayPolicy(rawValue: name), policy != .offline else {
      throw UsageError("--policy \(name): expected one of lru, costAware, adaptive, crd, gdsf, sieve")
    }
    self.policy = policy
    wantsJSON = arguments.has("--json")
  }

  func run() throws {
    let trace = try input.read().trace
    let curve = BudgetCurve(trace, budgets: Advice.budgets(trace), policy: policy)
    try Memchunk.write(wantsJSON ? json(curve).text + "\n" : text(curve))
  }

  private func text(_ curve: BudgetCurve) -> String {
    var rows = [["budget", "misses", "generated", "time"]]
    for point in curve.points {
      rows.append([
        megabytes(point.budget), "\(point.misses)", megabytes(point.missedBytes), milliseconds(point.missedCost),
      ])
    }
    return table(rows)
  }

  private func json(_ curve: BudgetCurve) -> JSON {
    .object([("policy", .string(policy.rawValue)), ("points", .array(curve.points.map(JSON.point)))])
  }
}
