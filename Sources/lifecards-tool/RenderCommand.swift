import Cards
import MemChunks
import Pictures
import ToolSupport

/// `lifecards render`: composes a document into a PNG file and gives the account.
struct RenderCommand {
  private let input: BytePath
  private let output: BytePath
  private let budget: Int
  private let wantsJSON: Bool

  init(_ arguments: [[UInt8]]) throws(UsageError) {
    let arguments = try Arguments(arguments, flags: ["--json"], options: ["--budget"])
    guard arguments.operands.count == 2 else {
      throw UsageError("render needs the name of a document and the name of the picture to write")
    }
    input = BytePath(bytes: arguments.operands[0])
    output = BytePath(bytes: arguments.operands[1])
    budget = try arguments.byteCount(of: "--budget", default: 10 << 20)
    wantsJSON = arguments.has("--json")
    if isSameFile(input.bytes, output.bytes) {
      throw UsageError("the picture would replace the document; give it another name")
    }
  }

  func run() throws {
    let clock = ContinuousClock()
    let start = clock.now
    let pool = ChunkPool(budget: .bytes(budget))
    var progress = ProgressLine("composing")
    defer { progress.clear() }
    let account = try OpenRasterFile(input).render(to: output, in: pool) { done, total in
      progress.update(done, of: total)
    }
    progress.clear()
    let time = (clock.now - start) / .seconds(1)
    let resident = peakResidentByteCount()
    try Lifecards.write(
      wantsJSON ? json(account, time, resident).text + "\n" : text(account, time, resident))
  }

  private func text(_ account: RenderAccount, _ time: Double, _ resident: Int?) -> String {
    let bands = account.bandCount == 1 ? "in one piece" : "in \(account.bandCount) bands"
    return """
      \(printable(output.description)): \(account.width) x \(account.height), composed \(bands)
        layers         \(account.drawnLayerCount) drawn, \(account.skippedLayerCount) not visible
        budget         \(megabytes(account.pool.budget))
        peak counted   \(megabytes(account.pool.peak))
        peak resident  \(resident.map(megabytes) ?? "unknown on this system")
        generations    \(account.pool.generations)
        frees          \(account.pool.frees)
        time           \(Double(Int(time * 100)) / 100) s

      """
  }

  private func json(_ account: RenderAccount, _ time: Double, _ resident: Int?) -> JSON {
    .object([
      ("output", .string(output.description)),
      ("width", .integer(account.width)),
      ("height", .integer(account.height)),
      ("layersDrawn", .integer(account.drawnLayerCount)),
      ("layersNotVisible", .integer(account.skippedLayerCount)),
      ("bands", .integer(account.bandCount)),
      ("budgetBytes", .integer(account.pool.budget)),
      ("peakCountedBytes", .integer(account.pool.peak)),
      ("peakResidentBytes", resident.map(JSON.integer) ?? .null),
      ("generations", .integer(account.pool.generations)),
      ("frees", .integer(account.pool.frees)),
      ("seconds", .number(time)),
    ])
  }
}
