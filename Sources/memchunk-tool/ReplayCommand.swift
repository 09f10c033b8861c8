import ChunkTrace
import ToolSupport
import TraceReport

/// `memchunk replay`: what policies would generate for the requests of a trace.
struct ReplayCommand: Command {
  static let name = "replay"
  static let summary = "what policies would generate for the requests of a trace"
  static let help = """
    Replays the requests of a trace and says what would have to be generated.

    usage: memchunk replay TRACE [--budget SIZE] [--policy NAME,...] [--mode MODE]
                           [--salvage] [--json]

      --budget SIZE   the memory budget (the one of the recording)
      --policy NAMES  some of lru, costAware, adaptive, crd, gdsf, sieve, offline
                      (all of them); offline knows the future, which no pool can
      --mode MODE     hard makes room first, as a pool does (the default);
                      libCacheSim inserts first, to compare with that program
      --salvage       uses what stands before damage in the file
      --json          writes it as JSON

    TRACE is a recording, CSV with the columns id, size and cost_us, or an
    oracleGeneral file; without costs, everything costs one microsecond. Misses are
    generations; the bound is what no policy can be below.

    examples:
      memchunk replay session.trace
      memchunk replay web.csv --budget 64MB --policy lru,costAware --json

    """

  private let input: TraceInput
  private let budget: Int?
  private let policies: [ReplayPolicy]
  private let mode: ReplayMode
  private let wantsJSON: Bool

  init(_ arguments: [[UInt8]]) throws(UsageError) {
    let arguments = try Arguments(arguments, flags: TraceInput.flags, options: ["--budget", "--policy", "--mode"])
    input = try TraceInput(arguments, of: "replay")
    budget = try TraceInput.budget(arguments)
    policies = try Self.policies(arguments.value(of: "--policy"))
    switch arguments.value(of: "--mode") ?? "hard" {
    case "hard": mode = .hard
    case "libCacheSim": mode = .libCacheSim
    case let name: throw UsageError("--mode \(name): expected hard or libCacheSim")
    }
    wantsJSON = arguments.has("--json")
  }

  private static func policies(_ names: String?) throws(UsageError) -> [ReplayPolicy] {
    guard let names else { return ReplayPolicy.allCases }
    var policies: [ReplayPolicy] = []
    for name in names.split(separator: ",", omittingEmptySubsequences: false) {
      guard let policy = ReplayPolicy(rawValue: String(name)) else {
        let all = ReplayPolicy.allCases.map(\.rawValue).joined(separator: ", ")
        throw UsageError("--policy \(name): expected some of \(all)")
      }
      policies.append(policy)
    }
    return policies
  }

  func run() throws {
    let file = try input.read()
    let budget = try TraceInput.budget(budget, file)
    let results = policies.map { ($0, file.trace.replay($0, budget: budget, mode: mode)) }
    let bound = file.trace.leastMissedCost(budget: budget)
    try Memchunk.write(wantsJSON ? json(results, budget, bound).text + "\n" : text(results, budget, bound))
  }

  private func text(_ results: [(ReplayPolicy, ReplayResult)], _ budget: Int, _ bound: UInt64) -> String {
    var rows = [["policy", "misses", "miss ratio", "generated", "byte ratio", "time"]]
    for (policy, result) in results {
      rows.append([
        policy.rawValue, "\(result.misses)", decimal(result.missRatio, 4), megabytes(result.missedBytes),
        decimal(result.byteMissRatio, 4), milliseconds(result.missedCost),
      ])
    }
    rows.append(["bound", "", "", "", "", milliseconds(bound)])
    return "\(results[0].1.requests) requests, budget \(megabytes(budget))\n" + table(rows)
  }

  private func json(_ results: [(ReplayPolicy, ReplayResult)], _ budget: Int, _ bound: UInt64) -> JSON {
    .object([
      ("budgetBytes", .integer(budget)), ("requests", .integer(results[0].1.requests)),
      ("boundNanoseconds", .integer(Int(bound))),
      ("policies", .array(results.map { JSON.result(of: $0, $1) })),
    ])
  }
}
