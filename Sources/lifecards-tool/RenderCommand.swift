import Cards
import ChunkTrace
import MemChunks
import Pictures
import ToolSupport

/// `lifecards render`: composes a document into a PNG file and gives the account.
struct RenderCommand: Command {
  static let help = """
    Composes an OpenRaster document into a PNG file.

    usage: lifecards render IN.ora OUT.png [--budget SIZE] [--threads N] [--level N]
                            [--trace FILE] [--report FILE.html] [--json]

      --budget SIZE   what decoders and rows may take at every moment (10MB)
      --threads N     how many threads decode and compose (as many as there are
                      processors, at most 8)
      --level N       how hard the picture is compressed, 0 to 9 (\(PNGWriter.defaultCompressionLevel))
      --trace FILE    records what the memory was asked for, for memchunk
      --report FILE   writes a page that shows it: memory, chunks, budgets
      --json          gives the account as JSON

    The picture is the same for every budget and number of threads. OUT.png is
    replaced only when the new picture is whole; without --trace and --report no
    other file is written. When
    OUT.png is - the picture goes to standard output, and the account, as JSON or
    not, to standard error. Otherwise the account goes to standard output.

    examples:
      lifecards render card.ora card.png
      lifecards render card.ora card.png --budget 6MB --threads 1 --json
      lifecards render card.ora - | display png:-

    """

  private let input: BytePath
  /// Nil is standard output.
  private let output: BytePath?
  private let budget: Int
  private var options: RenderOptions
  private let wantsJSON: Bool
  private let recording: PoolRecording

  init(_ arguments: [[UInt8]]) throws(UsageError) {
    let arguments = try Arguments(
      arguments, flags: ["--json"], options: Self.renderOptions.union(["--level"]))
    guard arguments.operands.count == 2 else {
      throw UsageError("render needs the name of a document and the name of the picture to write")
    }
    input = BytePath(bytes: arguments.operands[0])
    output = arguments.operands[1] == Array("-".utf8) ? nil : BytePath(bytes: arguments.operands[1])
    (budget, options) = try Self.budgetAndOptions(arguments)
    wantsJSON = arguments.has("--json")
    if let output, isSameFile(input.bytes, output.bytes) {
      throw UsageError("the picture would replace the document; give it another name")
    }
    recording = try PoolRecording(arguments, besides: [input] + (output.map { [$0] } ?? []))
    options.measuresDecoding = recording.isWanted
  }

  func run() throws {
    let start = ContinuousClock.now
    let file = try OpenRasterFile(input)
    let pool = ChunkPool(budget: .bytes(budget))
    // What cannot be done must not cost an older trace.
    if recording.isWanted { _ = try file.forecast(budget: budget, options: options) }
    let recorder = try recording.begin(of: pool)
    var progress = ProgressLine("composing")
    defer { progress.clear() }
    func show(_ done: Int, _ total: Int) { progress.update(done, of: total) }
    func compose() throws -> RenderAccount {
      if let output { return try file.render(to: output, in: pool, options: options, progress: show) }
      return try file.render(to: StandardOutput(), in: pool, options: options, progress: show)
    }
    let account = try recorder.map { try record(on: $0, file, compose) } ?? compose()
    progress.clear()
    if let recorder { try recording.end(recorder, budget: budget, name: file.name) }
    let report = RenderReport(
      output: output?.description ?? "standard output", account: account, threads: options.threads,
      seconds: (ContinuousClock.now - start) / .seconds(1), residentPeak: peakResidentByteCount())
    let text = wantsJSON ? report.json.text + "\n" : report.text
    if output == nil { Console.error(text) } else { try Lifecards.write(text) }
  }

  /// Composes, and has the recorder know what that would have generated with other budgets: another budget has another plan, so
  /// the requests alone would say nothing about it.
  private func record(
    on recorder: TraceRecorder, _ file: OpenRasterFile, _ compose: () throws -> RenderAccount
  ) throws -> RenderAccount {
    var account: RenderAccount?
    try recorder.planned {
      let done = try compose()
      account = done
      return try file.outlooks(done, options: options).map {
        BudgetPlan(
          budget: $0.budget, generations: $0.generationCount, generatedBytes: $0.generatedByteCount,
          nanoseconds: $0.nanoseconds)
      }
    }
    return account!
  }
}

extension Command {
  /// The options of `budgetAndOptions`, and of `PoolRecording`.
  static var renderOptions: Set<String> { PoolRecording.options.union(["--budget", "--threads"]) }

  /// How much memory a picture may take, and how it is made.
  static func budgetAndOptions(_ arguments: Arguments) throws(UsageError) -> (budget: Int, options: RenderOptions) {
    var options = RenderOptions()
    options.threads = try arguments.number(of: "--threads", in: 1...256, default: options.threads)
    options.compressionLevel = try arguments.number(of: "--level", in: 0...9, default: options.compressionLevel)
    return (try arguments.byteCount(of: "--budget", default: 10 << 20), options)
  }
}
