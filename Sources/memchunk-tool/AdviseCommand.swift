import ChunkTrace
import ToolSupport

/// `memchunk advise`: which budget and which policy would be right.
struct AdviseCommand: Command {
  static let name = "advise"
  static let summary = "which budget and which policy would be right, and why"
  static let help = """
    Says in plain sentences which budget and which policy would be right.

    usage: memchunk advise TRACE [--budget SIZE] [--salvage] [--json]

      --budget SIZE  today's budget (the one of the recording)
      --salvage      uses what stands before damage in the file
      --json         writes it as JSON

    Time is what generating takes, by the costs in the trace.

    examples:
      memchunk advise session.trace
      memchunk advise web.csv --budget 64MB --json

    """

  private let input: TraceInput
  private let budget: Int?
  private let wantsJSON: Bool

  init(_ arguments: [[UInt8]]) throws(UsageError) {
    let arguments = try Arguments(arguments, flags: TraceInput.flags, options: ["--budget"])
    input = try TraceInput(arguments, of: "advise")
    budget = try TraceInput.budget(arguments)
    wantsJSON = arguments.has("--json")
  }

  func run() throws {
    let file = try input.read()
    let advice = Advice(file.trace, budget: try TraceInput.budget(budget, file))
    try Memchunk.write(wantsJSON ? json(advice).text + "\n" : text(advice))
  }

  private func text(_ advice: Advice) -> String {
    let lru = advice.policies.first { $0.policy == .lru }!.result
    // Of what a pool can be set to.
    let best = advice.policies.first { [.lru, .costAware, .adaptive].contains($0.policy) }!
    var lines = [
      "\(advice.requests) requests for \(advice.objects) objects of \(megabytes(advice.footprint)) together.",
      "With today's \(megabytes(advice.budget)) and lru, \(lru.misses) generations take \(milliseconds(lru.missedCost)); "
        + "generating everything once takes \(milliseconds(advice.firstCost)).",
      "One megabyte more would save \(milliseconds(advice.savedByNextMegabyte)).",
    ]
    if let knee = advice.knee {
      lines.append(
        "The curve bends at \(megabytes(knee.budget)), where generating takes \(milliseconds(knee.missedCost)): "
          + "less budget costs much more, more saves little.")
    }
    lines.append(
      "The best policy today is \(best.policy.rawValue), with \(percent(best.result.missedCost, of: lru.missedCost)) of the "
        + "time of lru; no policy can be below \(percent(advice.leastCost, of: lru.missedCost)).")
    if let thrash = advice.thrash {
      lines.append(
        "It thrashes: \(thrash.again) of \(thrash.generations) generations make again what had been freed. "
          + "A budget of \(megabytesAtLeast(thrash.budgetThatStopsIt)) would stop that.")
      for (object, generations) in thrash.dearest {
        lines.append(
          "  \(name(object)), \(megabytes(object.size)): generated \(generations) times, \(milliseconds(object.cost)) each"
        )
      }
    }
    if advice.usedOnce.objects > 0 {
      lines.append("\(advice.usedOnce.objects) objects of \(megabytes(advice.usedOnce.bytes)) are never used again.")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func name(_ object: Trace.Object) -> String {
    object.label.isEmpty ? "object \(object.key)" : printable(object.label)
  }

  private func json(_ advice: Advice) -> JSON {
    .object([
      ("budgetBytes", .integer(advice.budget)), ("requests", .integer(advice.requests)),
      ("objects", .integer(advice.objects)), ("footprintBytes", .integer(advice.footprint)),
      ("firstNanoseconds", .integer(Int(advice.firstCost))), ("boundNanoseconds", .integer(Int(advice.leastCost))),
      ("savedByNextMegabyteNanoseconds", .integer(Int(advice.savedByNextMegabyte))),
      ("knee", advice.knee.map(CurveCommand.json) ?? .null),
      ("policies", .array(advice.policies.map { ReplayCommand.json($0.policy, $0.result) })),
      ("thrash", advice.thrash.map(json) ?? .null),
      ("usedOnceObjects", .integer(advice.usedOnce.objects)), ("usedOnceBytes", .integer(advice.usedOnce.bytes)),
      ("curve", .array(advice.curve.points.map(CurveCommand.json))),
    ])
  }

  private func json(_ thrash: Advice.Thrash) -> JSON {
    .object([
      ("generations", .integer(thrash.generations)), ("again", .integer(thrash.again)),
      ("budgetThatStopsItBytes", .integer(thrash.budgetThatStopsIt)),
      (
        "dearest",
        .array(
          thrash.dearest.map { object, generations in
            .object([
              ("label", .string(name(object))), ("bytes", .integer(object.size)),
              ("generations", .integer(generations)), ("nanoseconds", .integer(Int(object.cost))),
            ])
          })
      ),
    ])
  }
}
