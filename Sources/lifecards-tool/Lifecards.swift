import Cards
import MemChunks
import ToolSupport

/// The program `lifecards`: what it can be asked, and how it answers.
enum Lifecards {
  static let version = "0.1.0"

  static let help = """
    lifecards composes layered pictures in little memory.

    usage:
      lifecards render IN.ora OUT.png [--budget SIZE] [--json]
      lifecards sample OUT.ora [--layers N] [--width N] [--height N] [--seed N]
      lifecards --help | --version

    render composes an OpenRaster document into a PNG file. Decoded pixels stay
    within the budget at every moment (10MB unless another is given); OUT.png is
    replaced only when the new picture is whole. --json prints the account of
    what it took as JSON on standard output.

    sample writes a document to try it with: 16 layers of 1000 x 700 pixels
    unless others are asked for, drawn from the seed.

    Sizes are such as 10MB, 512KB or 1.5GB; an MB is 2^20 bytes.
    The exit code is 0 when all went well, 1 when not, 2 for a wrong command line.

    examples:
      lifecards sample card.ora
      lifecards render card.ora card.png
      lifecards render card.ora card.png --budget 6MB --json

    """

  /// Does what the command line asks and ends the process.
  static func main() -> Never {
    do {
      try run(Arguments.ofProcess)
      Console.exit(.success)
    } catch let error as UsageError {
      Console.error("lifecards: \(printable(error.description))\nTry lifecards --help\n")
      Console.exit(.usage)
    } catch {
      Console.error("lifecards: \(printable("\(rootCause(of: error))"))\n")
      Console.exit(.failure)
    }
  }

  private static func run(_ arguments: [[UInt8]]) throws {
    guard let first = arguments.first else { throw UsageError("there is nothing to do") }
    let rest = Array(arguments.dropFirst())
    switch String(decoding: first, as: UTF8.self) {
    case "render": try RenderCommand(rest).run()
    case "sample": try SampleCommand(rest).run()
    case "--help", "-h", "help": try write(help)
    case "--version": try write("lifecards \(version)\n")
    case let unknown: throw UsageError("unknown command \(unknown)")
    }
  }

  /// Writes what was asked for to standard output.
  static func write(_ text: String) throws {
    guard Console.output(text) else { throw OutputFailed() }
  }

  /// Standard output took less than it was given.
  struct OutputFailed: Error, CustomStringConvertible {
    let description = "standard output cannot be written; is the disk full?"
  }

  /// The error that chunks report on behalf of what failed in them: it names the file, where they name chunks.
  static func rootCause(of error: any Error) -> any Error {
    var cause = error
    while case ChunkError.generationFailed(_, let underlying) = cause {
      cause = underlying
    }
    return cause
  }
}
