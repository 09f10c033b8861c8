import ChunkTrace
import MemChunks
import TraceReport

/// What is to be kept of how a picture was made: a trace, a page, both or nothing.
struct RenderRecording {
  /// Where the trace goes; nil for nowhere.
  var trace: String?
  /// Where the page goes.
  var page: String?

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
