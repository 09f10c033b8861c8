/// What is wrong with a trace.
public enum TraceError: Error, Equatable, CustomStringConvertible {
  /// The file cannot be opened, read or written; the system's reason.
  case cannotRead(file: String, reason: String)
  /// The same of writing.
  case cannotWrite(file: String, reason: String)
  /// It begins like no trace that is known.
  case foreign(file: String)
  /// There is nothing in it.
  case empty(file: String)
  /// It was written by a later version of the format.
  case tooNew(file: String, version: Int)
  /// Its sizes or costs add up to more than a number can hold.
  case uncountable(file: String)
  /// It ends, or makes no sense, at a byte; what stands before can be read when asked for.
  case damaged(file: String, offset: Int, reason: String)

  /// What is wrong, where, and what can be done, in one line.
  public var description: String {
    switch self {
    case .cannotRead(let file, let reason): "\(file): cannot be read: \(reason)"
    case .cannotWrite(let file, let reason): "\(file): cannot be written: \(reason)"
    case .foreign(let file):
      "\(file): is not a trace; expected a recorded trace, CSV with the columns id and size, or an .oracleGeneral file"
    case .empty(let file): "\(file): is empty; nothing was recorded into it"
    case .tooNew(let file, let version):
      "\(file): has version \(version) of the format, and this program knows version \(TraceFormat.version); use a newer one"
    case .uncountable(let file): "\(file): its sizes or costs add up to more than can be counted; somebody made them up"
    case .damaged(let file, let offset, let reason):
      "\(file): damaged at byte \(offset): \(reason); --salvage uses what stands before"
    }
  }
}
