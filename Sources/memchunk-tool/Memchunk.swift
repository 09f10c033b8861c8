import ChunkTrace
import ToolSupport

/// The program `memchunk`: what it can be asked, and how it answers.
enum Memchunk {
  static let version = "0.1.0"

  /// What can be asked, in the order in which help names it.
  static var commands: [(name: String, summary: String, command: any Command.Type)] {
    [
      ("replay", "what policies would generate for the requests of a trace", ReplayCommand.self),
      ("curve", "what budgets would generate, each and all of them", CurveCommand.self),
      ("advise", "which budget and which policy would be right, and why", AdviseCommand.self),
    ]
  }

  private static var help: String {
    let names = commands.map { $0.name + String(repeating: " ", count: 8 - $0.name.count) + $0.summary }
    return """
      memchunk tells what a memory budget costs.

      usage:
        memchunk COMMAND ...
        memchunk COMMAND --help
        memchunk --help | --version

      \(names.joined(separator: "\n"))

      Sizes are such as 10MB, 512KB or 1.5GB; an MB is 2^20 bytes. What follows -- is
      not an option.

      The exit code is 0 when all went well, 1 when not, 2 for a wrong command line.

      examples:
        memchunk replay session.trace --budget 10MB --policy lru,costAware
        memchunk curve session.trace
        memchunk advise session.trace --json

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
    let rest = Array(arguments.dropFirst())
    switch String(decoding: first, as: UTF8.self) {
    case "--help", "-h": try write(help)
    case "--version": try write("memchunk \(version)\n")
    case let name:
      guard let command = commands.first(where: { $0.name == name })?.command else {
        throw UsageError("unknown command \(name)")
      }
      if Arguments.askForHelp(rest) { return try write(command.help) }
      try command.init(rest).run()
    }
  }

  /// Writes what was asked for to standard output.
  static func write(_ text: String) throws {
    guard Console.output(text) else {
      throw TraceError.cannotWrite(file: "standard output", reason: Console.lastReason)
    }
  }
}

/// What can be asked of the program.
protocol Command {
  /// What `memchunk COMMAND --help` prints.
  static var help: String { get }
  /// Takes the arguments that follow the command.
  init(_ arguments: [[UInt8]]) throws(UsageError)
  func run() throws
}
