import Cards
import MemChunks
import Pictures
import ToolSupport

/// The program `lifecards`: what it can be asked, and how it answers.
enum Lifecards {
  static let version = "0.1.0"

  static let help = """
    lifecards composes layered pictures in little memory.

    usage:
      lifecards render IN.ora OUT.png [--budget SIZE] [--threads N] [--level N] [--json]
      lifecards info IN.ora [--budget SIZE] [--threads N] [--json]
      lifecards thumbnail FILE ... --out DIR [--size N] [--budget SIZE] [--threads N]
                [--damaged] [--json]
      lifecards sample OUT.ora [--layers N] [--width N] [--height N] [--seed N]
      lifecards COMMAND --help
      lifecards --help | --version

    render     composes an OpenRaster document into a PNG file, within a budget
    info       says what is in a document and what rendering it will take
    thumbnail  makes small pictures of PNG, JPEG and WebP files
    sample     writes a document to try the program with

    Sizes are such as 10MB, 512KB or 1.5GB; an MB is 2^20 bytes. What follows -- is
    not an option. File names may be any bytes; in what is printed, control
    characters are escaped and bytes that are not UTF-8 replaced.

    The exit code is 0 when all went well, 1 when not, 2 for a wrong command line.
    Stopped by SIGINT, SIGTERM or SIGHUP, lifecards removes the file it has not
    finished and ends by that signal.

    examples:
      lifecards sample card.ora
      lifecards info card.ora
      lifecards render card.ora card.png --budget 6MB
      lifecards thumbnail photos/*.jpg --out small

    """

  /// Does what the command line asks and ends the process.
  static func main() -> Never {
    Console.openStreams()
    EndingSignals.take { ReplacementFile.abandonAll() }
    do {
      try run(Arguments.ofProcess)
      Console.exit(.success)
    } catch let error as UsageError {
      Console.error("lifecards: \(printable(error.description))\nTry lifecards --help\n")
      Console.exit(.usage)
    } catch {
      Console.error("lifecards: \(printable(text(of: error)))\n")
      Console.exit(.failure)
    }
  }

  private static func run(_ arguments: [[UInt8]]) throws {
    guard let first = arguments.first else { throw UsageError("there is nothing to do") }
    let rest = Array(arguments.dropFirst())
    switch String(decoding: first, as: UTF8.self) {
    case "render": try run(RenderCommand.self, rest)
    case "info": try run(InfoCommand.self, rest)
    case "thumbnail": try run(ThumbnailCommand.self, rest)
    case "sample": try run(SampleCommand.self, rest)
    case "--help", "-h": try write(help)
    case "--version": try write("lifecards \(version)\n")
    case let unknown: throw UsageError("unknown command \(unknown)")
    }
  }

  private static func run(_ command: (some Command).Type, _ arguments: [[UInt8]]) throws {
    if Arguments.askForHelp(arguments) { return try write(command.help) }
    try command.init(arguments).run()
  }

  /// Writes what was asked for to standard output.
  static func write(_ text: String) throws {
    guard Console.output(text) else { throw StandardOutput.failure }
  }

  /// What went wrong, in one line for people.
  static func text(of error: any Error) -> String {
    // Chunks report on behalf of what failed in them, which names the file where they name chunks.
    var cause = error
    while case ChunkError.generationFailed(_, let underlying) = cause {
      cause = underlying
    }
    guard case CardError.budgetTooSmall(let file, let needed, let budget) = cause else { return "\(cause)" }
    let least = megabytesAtLeast(needed)
    return "\(file): cannot be composed in \(megabytes(budget)); raise --budget to at least \(least)"
  }
}

/// What can be asked of the program.
protocol Command {
  /// What `lifecards COMMAND --help` prints.
  static var help: String { get }
  /// Takes the arguments that follow the command.
  init(_ arguments: [[UInt8]]) throws(UsageError)
  func run() throws
}
