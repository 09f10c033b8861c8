import ChunkTrace
import ToolSupport

/// The trace that a command is about, as its command line names it.
struct TraceInput {
  /// What every command that reads a trace takes.
  static let flags: Set<String> = ["--json", "--salvage"]

  private let path: String
  private let salvage: Bool

  init(_ arguments: Arguments, of command: String) throws(UsageError) {
    guard arguments.operands.count == 1 else { throw UsageError("\(command) needs the name of one trace") }
    path = String(decoding: arguments.operands[0], as: UTF8.self)
    salvage = arguments.has("--salvage")
  }

  /// Reads it. What was not used, or not recorded, is said on standard error.
  func read() throws -> TraceFile {
    let file = try TraceFile(path, salvage: salvage)
    if let damage = file.damage { Console.error("memchunk: \(printable("\(damage)")) (used so far)\n") }
    if file.droppedHits > 0 {
      Console.error("memchunk: \(printable(path)): \(file.droppedHits) hits could not be recorded and are missing\n")
    }
    guard !file.trace.requests.isEmpty || !file.trace.plannedWork.isEmpty else { throw TraceError.empty(file: path) }
    return file
  }

  /// What happened while it was recorded; nil for formats that know no times.
  func session() throws -> Session? { try Session(path) }

  /// What it is called in a report.
  var name: String { path.split(separator: "/").last.map(String.init) ?? path }

  /// The budget that was given, or the one of the recording.
  static func budget(_ given: Int?, _ file: TraceFile) throws(UsageError) -> Int {
    guard let budget = given ?? file.budget else {
      throw UsageError("the trace does not say its budget; give one with --budget")
    }
    guard budget >= file.trace.leastBudget else {
      throw UsageError(
        "with \(megabytes(budget)) what was recorded cannot be done; it needs \(megabytesAtLeast(file.trace.leastBudget))"
      )
    }
    return budget
  }

  /// The value of `--budget`; nil if it was not given.
  static func budget(_ arguments: Arguments) throws(UsageError) -> Int? {
    guard arguments.value(of: "--budget") != nil else { return nil }
    return try arguments.byteCount(of: "--budget", default: 0)
  }
}
