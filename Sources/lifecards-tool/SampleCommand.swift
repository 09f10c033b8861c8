import Cards
import MemChunks
import Pictures
import ToolSupport

/// `lifecards sample`: writes a document to try the program with.
struct SampleCommand: Command {
  static let help = """
    Writes a layered document to try lifecards with, drawn from a seed: photographs,
    speech bubbles and light over a landscape. The same seed draws the same pixels
    on every machine.

    usage: lifecards sample OUT.ora [--layers N] [--width N] [--height N] [--seed N]

      --layers N   how many layers, up to 10000 (16)
      --width N    width of the canvas and of each layer, 16 to 20000 pixels (1000)
      --height N   height of both, 16 to 20000 pixels (700)
      --seed N     a whole number from 0 (1)

    OUT.ora is replaced only when the document is whole. It cannot be standard
    output.

    examples:
      lifecards sample card.ora
      lifecards sample large.ora --layers 100 --width 4000 --height 3000 --seed 7

    """

  private let output: BytePath
  private let sample: SampleDocument

  init(_ arguments: [[UInt8]]) throws(UsageError) {
    let arguments = try Arguments(arguments, options: ["--layers", "--width", "--height", "--seed"])
    guard arguments.operands.count == 1 else { throw UsageError("sample needs the name of the document to write") }
    guard arguments.operands[0] != Array("-".utf8) else {
      throw UsageError("a document cannot be written to standard output; give the name of a file, ./- for one called -")
    }
    output = BytePath(bytes: arguments.operands[0])
    sample = SampleDocument(
      layerCount: try arguments.number(of: "--layers", in: 1...10_000, default: 16),
      width: try arguments.number(of: "--width", in: 16...20_000, default: 1_000),
      height: try arguments.number(of: "--height", in: 16...20_000, default: 700),
      seed: UInt64(try arguments.number(of: "--seed", in: 0...Int.max, default: 1)))
  }

  func run() throws {
    // Beside the files, what decoders need for the merged picture.
    let pool = ChunkPool(budget: .bytes(SampleLayers.budget(sample) + 64 << 20))
    let layers = SampleLayers(sample, in: pool)
    var progress = ProgressLine("drawing")
    defer { progress.clear() }
    var done = 0
    try sample.document.write(to: output, in: pool) { _ in
      progress.update(done, of: sample.layerCount)
      done += 1
      return try layers.nextFile()
    }
    progress.clear()
    let megapixels = megabytes(4 * sample.width * sample.height * sample.layerCount)
    try Lifecards.write(
      """
      \(printable(output.description)): \(sample.layerCount) layers of \(sample.width) x \(sample.height), \
      \(megapixels) of pixels

      """)
  }
}
