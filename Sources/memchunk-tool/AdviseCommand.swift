import ChunkTrace
import ToolSupport
import TraceReport

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
    let findings = Findings(file, try input.session(), budget: try TraceInput.budget(budget, file))
    try Memchunk.write(wantsJSON ? findings.json.text + "\n" : findings.sentences.joined(separator: "\n") + "\n")
  }
}
