import ToolSupport

/// The program `memchunk`: finds what is asked for and says how it ended.
enum Memchunk {
  static let version = "0.1.0"

  /// What can be asked, in the order of the help; each has a file of its own.
  static var commands: [any Command.Type] {
    [
      DoctorCommand.self, ReplayCommand.self, CurveCommand.self, AdviseCommand.self,
      ReportCommand.self,
    ]
  }

  private static var help: String {
    let width = commands.map { $0.name.count }.max() ?? 0
    let list = commands.map { command in
      "  " + command.name + String(repeating: " ", count: width - command.name.count + 3) + command.summary
    }
    return """
      memchunk helps to run programs that keep their memory in chunks.

      usage:
        memchunk COMMAND [OPTIONS]
        memchunk COMMAND --help
        memchunk --help | --version

      \(list.joined(separator: "\n"))

      The exit code is 0 when all went well, 1 when not, 2 for a wrong command line.

      examples:
      \(commands.map { "  memchunk \($0.name) --help" }.joined(separator: "\n"))

      """
  }

  /// Does what the command line asks and ends the process.
  static func main() -> Never {
    Console.openStreams()
    do {
      try run(Arguments.ofProcess)
      Console.exit(.success)
    } catch let error as UsageError {
      Console.error("memchunk: \(printable(error.description))\nTry memchunk --help\n")
      Console.exit(.usage)
    } catch {
      Console.error("memchunk: \(printable("\(error)"))\n")
      Console.exit(.failure)
    }
  }

  private static func run(_ arguments: [[UInt8]]) throws {
    guard let first = arguments.first else { throw UsageError("there is nothing to do") }
    let word = String(decoding: first, as: UTF8.self)
    let rest = Array(arguments.dropFirst())
    if let command = commands.first(where: { $0.name == word }) {
      if Arguments.askForHelp(rest) { return try write(command.help) }
      return try command.init(rest).run()
    }
    switch word {
    case "--help", "-h": try write(help)
    case "--version": try write("memchunk \(version)\n")
    default: throw UsageError("unknown command \(word)")
    }
  }

  /// Writes what was asked for to standard output.
  static func write(_ text: String) throws {
    guard Console.output(text) else { throw OutputError(reason: Console.lastReason) }
  }
}

/// Standard output took less than it was given.
struct OutputError: Error, CustomStringConvertible {
  var reason: String
  var description: String { "standard output: \(reason)" }
}

/// What can be asked of the program.
protocol Command {
  /// The word that asks for it.
  static var name: String { get }
  /// What it does, in one line of the program's help.
  static var summary: String { get }
  /// What `memchunk COMMAND --help` prints.
  static var help: String { get }
  /// Takes the arguments that follow the command.
  init(_ arguments: [[UInt8]]) throws(UsageError)
  func run() throws
}
