import ChunkTrace
import ToolSupport
import TraceReport

/// `memchunk report`: a page that shows what happened and what would be better.
struct ReportCommand: Command {
  static let name = "report"
  static let summary = "a page that shows what happened, and what would be better"
  static let help = """
    Writes one HTML page about a trace. It needs no network and no other file.

    usage: memchunk report TRACE -o PAGE.html [--budget SIZE] [--salvage]
           memchunk report TRACE --json [--budget SIZE] [--salvage]

      -o PAGE.html   where to; an existing file is replaced when the page is whole
      --budget SIZE  today's budget (the one of the recording)
      --salvage      uses what stands before damage in the file
      --json         writes all that the page shows as JSON to standard output

    Of a recording it shows memory over time, a lane for each chunk, and events;
    of every trace what budgets and policies would generate.

    examples:
      memchunk report session.trace -o session.html
      memchunk report web.csv --budget 64MB --json

    """

  private let input: TraceInput
  private let budget: Int?
  private let output: String?
  private let wantsJSON: Bool

  init(_ arguments: [[UInt8]]) throws(UsageError) {
    let arguments = try Arguments(arguments, flags: TraceInput.flags, options: ["--budget", "-o"])
    input = try TraceInput(arguments, of: "report")
    budget = try TraceInput.budget(arguments)
    output = arguments.value(of: "-o")
    wantsJSON = arguments.has("--json")
    guard wantsJSON || output != nil else {
      throw UsageError("report needs -o and the name of the page to write, or --json")
    }
  }

  func run() throws {
    let file = try input.read()
    let findings = Findings(file, try input.session(), budget: try TraceInput.budget(budget, file))
    let report = Report(findings, name: input.name)
    if let output { try report.write(to: output) }
    if wantsJSON { try Memchunk.write(report.json.text + "\n") }
  }
}
