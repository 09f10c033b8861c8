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
    guard !file.trace.requests.isEmpty else { throw TraceError.empty(file: path) }
    return file
  }

  /// The budget that was given, or the one of the recording.
  static func budget(_ given: Int?, _ file: TraceFile) throws(UsageError) -> Int {
    guard let budget = given ?? file.budget else {
      throw UsageError("the trace does not say its budget; give one with --budget")
    }
    return budget
  }

  /// The value of `--budget`; nil if it was not given.
  static func budget(_ arguments: Arguments) throws(UsageError) -> Int? {
    guard arguments.value(of: "--budget") != nil else { return nil }
    return try arguments.byteCount(of: "--budget", default: 0)
  }
}

/// A duration for people, of so many nanoseconds.
func milliseconds(_ nanoseconds: UInt64) -> String { "\(decimal(Double(nanoseconds) / 1e6, 1)) ms" }

/// A share for people.
func percent(_ part: UInt64, of whole: UInt64) -> String {
  "\(decimal(whole == 0 ? 100 : Double(part) / Double(whole) * 100, 1)) %"
}

/// A number with so many decimals, rounded to nearest.
func decimal(_ number: Double, _ decimals: Int) -> String {
  let factor = (0..<decimals).reduce(1.0) { factor, _ in factor * 10 }
  let whole = (number * factor).rounded()
  guard whole.magnitude < 1e18 else { return "\(number)" }
  let digits = String(Int(whole.magnitude))
  let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
  return (whole < 0 ? "-" : "") + padded.dropLast(decimals) + "." + padded.suffix(decimals)
}

/// A table with the first column to the left and the others to the right.
func table(_ rows: [[String]]) -> String {
  let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
  return rows.map { row in
    row.enumerated().map { column, cell in
      let space = String(repeating: " ", count: widths[column] - cell.count)
      return column == 0 ? cell + space : space + cell
    }.joined(separator: "  ")
  }.joined(separator: "\n") + "\n"
}
