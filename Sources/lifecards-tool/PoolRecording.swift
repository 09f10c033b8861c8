import ChunkTrace
import MemChunks
import Pictures
import ToolSupport
import TraceReport

/// What is to be kept of what a command asked of its pool: a trace, a page, both or nothing.
struct PoolRecording {
  /// The options that say so.
  static let options: Set<String> = ["--trace", "--report"]

  /// Where the trace goes; nil for nowhere.
  private let trace: String?
  /// Where the page goes.
  private let page: String?

  /// Whether anything is.
  var isWanted: Bool { trace != nil || page != nil }

  /// - Parameter files: what the command reads and writes, which must not be replaced by a trace or a page.
  init(_ arguments: Arguments, besides files: [BytePath]) throws(UsageError) {
    trace = arguments.value(of: "--trace")
    page = arguments.value(of: "--report")
    for (option, name) in [("--trace", trace), ("--report", page)] {
      guard let name = name.map({ Array($0.utf8) }) else { continue }
      if let file = files.first(where: { isSameFile($0.bytes, name) }) {
        throw UsageError("\(option) would replace \(file); give it another name")
      }
    }
  }

  /// Nil where nothing is to be kept.
  func begin(of pool: ChunkPool) throws(TraceError) -> TraceRecorder? {
    if let trace { return try TraceRecorder(of: pool, to: trace) }
    return page == nil ? nil : TraceRecorder(of: pool)
  }

  func end(_ recorder: TraceRecorder, budget: Int, name: String) throws(TraceError) {
    let findings: Findings
    if let trace {
      try recorder.close()
      guard page != nil else { return }
      findings = Findings(try TraceFile(trace), try Session(trace), budget: budget)
    } else {
      let bytes = recorder.finish()
      findings = Findings(
        try TraceFile(bytes: bytes, file: name), try Session(bytes: bytes, file: name), budget: budget)
    }
    try Report(findings, name: name).write(to: page!)
  }
}
