import Cards
import MemChunks
import Pictures
import ToolSupport

// Darwin and Musl are not run here.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// `lifecards thumbnail`: makes small pictures of many files.
struct ThumbnailCommand: Command {
  static let help = """
    Makes small pictures of PNG, JPEG and WebP files.

    usage: lifecards thumbnail FILE ... --out DIR [--size N] [--budget SIZE] [--threads N]
                               [--damaged] [--trace FILE] [--report FILE.html] [--json]

      --out DIR       where the small pictures go, as PNG files of the same name; made
                  if it is missing
      --size N        the most pixels that a side of them has (256)
      --budget SIZE   what decoders and rows may take at every moment (10MB)
      --threads N     how many files are read at a time (as many as there are
                      processors, at most 8)
      --damaged       takes what there is of files that are cut off or damaged, and
                      warns
      --trace FILE    records what the memory was asked for, for memchunk
      --report FILE   writes a page that shows it: memory, chunks, budgets
      --json          gives the account as JSON

    Pictures are turned upright, converted to sRGB where they have a colour profile of
    grey or RGB, and never enlarged; nothing else that is said in a file is passed on.
    A file that cannot be read is named on standard error, and the others are done; the
    exit code is then 1. Each small picture is put in its place only when it is whole.

    examples:
      lifecards thumbnail photos/*.jpg --out small
      lifecards thumbnail *.webp --out small --size 512 --budget 6MB --threads 2 --json

    """

  private let inputs: [BytePath]
  private let directory: BytePath
  private let outputs: [BytePath]
  private let budget: Int
  private let threads: Int
  private let size: Int
  private let reading: PictureReading
  private let wantsJSON: Bool
  private let recording: PoolRecording

  init(_ arguments: [[UInt8]]) throws(UsageError) {
    // The option's value is text elsewhere; here it is a path of any bytes.
    let (directory, rest) = try Self.takeDirectory(arguments)
    let arguments = try Arguments(
      rest, flags: ["--json", "--damaged"], options: Self.renderOptions.union(["--size"]))
    guard !arguments.operands.isEmpty else { throw UsageError("thumbnail needs the names of pictures") }
    inputs = arguments.operands.map { BytePath(bytes: $0) }
    self.directory = BytePath(bytes: directory)
    outputs = try Self.outputs(of: arguments.operands, in: directory)
    let (budget, options) = try Self.budgetAndOptions(arguments)
    (self.budget, threads) = (budget, options.threads)
    size = try arguments.number(of: "--size", in: 1...16_384, default: 256)
    reading = PictureReading(damage: arguments.has("--damaged") ? .showWhatThereIs : .refuse)
    wantsJSON = arguments.has("--json")
    recording = try PoolRecording(arguments, besides: inputs + outputs)
  }

  private static func takeDirectory(_ arguments: [[UInt8]]) throws(UsageError) -> ([UInt8], [[UInt8]]) {
    let end = arguments.firstIndex(of: Array("--".utf8)) ?? arguments.count
    let option = Array("--out".utf8), prefix = Array("--out=".utf8)
    guard let index = arguments[..<end].firstIndex(where: { $0 == option || $0.starts(with: prefix) }) else {
      throw UsageError("thumbnail needs --out and a directory")
    }
    let others = arguments[..<end].dropFirst(index + 2)
    guard !others.contains(where: { $0 == option || $0.starts(with: prefix) }) else {
      throw UsageError("--out is given twice")
    }
    var rest = arguments
    let word = rest.remove(at: index)
    if word != option { return (Array(word.dropFirst(prefix.count)), rest) }
    guard index < rest.count else { throw UsageError("--out needs a value") }
    return (rest.remove(at: index), rest)
  }

  /// The files to write: no two may have one name, and none may be an input.
  private static func outputs(of inputs: [[UInt8]], in directory: [UInt8]) throws(UsageError) -> [BytePath] {
    var inputOf: [[UInt8]: [UInt8]] = [:]
    // Links lead from one's output to another's input too.
    let inputOfIdentity = Dictionary(
      inputs.compactMap { input in FileIdentity(input).map { ($0, input) } }, uniquingKeysWith: { first, _ in first })
    var outputs: [BytePath] = []
    for input in inputs {
      let name = input.split(separator: UInt8(ascii: "/")).last.map(Array.init) ?? []
      let stem = name.lastIndex(of: UInt8(ascii: ".")).flatMap { $0 > 0 ? Array(name[..<$0]) : nil } ?? name
      let output = (directory.isEmpty ? [UInt8(ascii: ".")] : directory) + Array("/".utf8) + stem + Array(".png".utf8)
      if let other = inputOf[output] {
        let names = [other, input].map { String(decoding: $0, as: UTF8.self) }
        throw UsageError("\(names[0]) and \(names[1]) would become one file; make them into two directories")
      }
      if let replaced = FileIdentity(output).flatMap({ inputOfIdentity[$0] }) {
        throw UsageError("\(String(decoding: replaced, as: UTF8.self)) would be replaced; give another directory")
      }
      inputOf[output] = input
      outputs.append(BytePath(bytes: output))
    }
    return outputs
  }

  func run() throws {
    let start = ContinuousClock.now
    try makeDirectory()
    let pool = ChunkPool(budget: .bytes(budget))
    let recorder = try recording.begin(of: pool)
    let work = ThumbnailWork(count: inputs.count)
    let run: @Sendable () -> Void = { [self] in
      while let index = work.take() {
        work.finish(index, Result { try make(index, in: pool) })
      }
    }
    // This thread is one of them.
    let workers = (1..<max(1, min(threads, inputs.count))).compactMap { _ in WorkerThread(run) }
    run()
    for worker in workers { worker.join() }
    if let recorder { try recording.end(recorder, budget: budget, name: "thumbnails") }
    let report = ThumbnailReport(
      pool: pool.statistics, threads: workers.count + 1, seconds: (ContinuousClock.now - start) / .seconds(1),
      residentPeak: peakResidentByteCount(), files: zip(zip(inputs, outputs), work.end()).map { ($0.0, $0.1, $1) })
    for line in report.complaints { Console.error("lifecards: \(printable(line))\n") }
    try Lifecards.write(wantsJSON ? report.json.text + "\n" : report.text)
    if report.failureCount > 0 { Console.exit(.failure) }
  }

  /// Makes the directory where it is missing, but not those above: a name that was mistyped there would go unnoticed.
  private func makeDirectory() throws {
    if directory.bytes.isEmpty || directory.withCString({ mkdir($0, 0o777) }) == 0 || errno == EEXIST { return }
    throw PictureError.cannotWrite(
      file: "\(directory)", reason: "the directory cannot be made: \(Console.lastReason); give another")
  }

  private func make(_ index: Int, in pool: ChunkPool) throws -> ThumbnailReport.Made {
    let picture = try Picture.open(inputs[index])
    let size = picture.size(fitting: size, size)
    let chunk = try PictureChunk(
      picture, width: size.width, height: size.height, in: pool, keepsPixels: false, reading: reading)
    let output = try ReplacementFile(replacing: outputs[index])
    let warning = try chunk.writePNG(to: output)
    try output.commit()
    return ThumbnailReport.Made(width: chunk.width, height: chunk.height, warning: warning)
  }
}

/// Which file is whose, and what came of each.
private final class ThumbnailWork: @unchecked Sendable {
  // Used under the lock only.
  private var next = 0
  private var outcomes: [Result<ThumbnailReport.Made, any Error>?]
  private var finished = 0
  private var progress = ProgressLine("making")
  private let lock = Lock()

  init(count: Int) { outcomes = Array(repeating: nil, count: count) }

  /// The next file that nobody has taken.
  func take() -> Int? {
    lock.withLock {
      guard next < outcomes.count else { return nil }
      defer { next += 1 }
      return next
    }
  }

  func finish(_ index: Int, _ outcome: Result<ThumbnailReport.Made, any Error>) {
    lock.withLock {
      outcomes[index] = outcome
      finished += 1
      progress.update(finished, of: outcomes.count)
    }
  }

  /// What came of the files, once all threads have ended.
  func end() -> [Result<ThumbnailReport.Made, any Error>] {
    lock.withLock {
      progress.clear()
      // Each was taken by somebody, who has finished it.
      return outcomes.map { $0! }
    }
  }
}
