import Cards
import MemChunks
import Pictures
import ToolSupport

/// `lifecards sample`: writes a document to try the program with.
struct SampleCommand {
  private let output: BytePath
  private let sample: SampleDocument

  init(_ arguments: [[UInt8]]) throws(UsageError) {
    let arguments = try Arguments(arguments, options: ["--layers", "--width", "--height", "--seed"])
    guard arguments.operands.count == 1 else { throw UsageError("sample needs the name of the document to write") }
    output = BytePath(bytes: arguments.operands[0])
    sample = SampleDocument(
      layerCount: try arguments.number(of: "--layers", in: 1...10_000, default: 16),
      width: try arguments.number(of: "--width", in: 16...20_000, default: 1_000),
      height: try arguments.number(of: "--height", in: 16...20_000, default: 700),
      seed: UInt64(try arguments.number(of: "--seed", in: 0...Int.max, default: 1)))
  }

  func run() throws {
    // A layer, the canvas and a group's plane beside it, and as much again, so that few layers are drawn twice.
    let pool = ChunkPool(budget: .bytes(40 * sample.width * sample.height + (1 << 20)))
    try sample.document.write(to: output, in: pool) { layer in
      let painter = sample.painter(of: layer)
      let chunk = BufferChunk(in: pool, label: layer.name, size: painter.byteCount) { bytes in
        painter.paint(into: &bytes)
      }
      return LayerPixels(width: sample.width, height: sample.height, chunk: chunk)
    }
    let megapixels = megabytes(4 * sample.width * sample.height * sample.layerCount)
    try Lifecards.write(
      """
      \(printable(output.description)): \(sample.layerCount) layers of \(sample.width) x \(sample.height), \
      \(megapixels) of pixels

      """)
  }
}
