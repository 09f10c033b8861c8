import ChunkTrace
import Pictures
import TestSupport
import Testing

// Darwin and Musl are not run here.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// `lifecards thumbnail` as people use it.
@Suite(.enabled(if: Program.isBuilt, "the program has not been built beside the tests")) struct LifecardsThumbnailTests
{
  private let inputs = TemporaryDirectory()
  private let outputs = TemporaryDirectory()

  /// Writes a PNG picture of slopes and returns its path.
  private func make(_ name: String, width: Int = 300, height: Int = 200) throws -> String {
    let path = inputs.file(name)
    let file = try ReplacementFile(replacing: BytePath(path))
    let writer = try PNGWriter(width: width, height: height, to: file)
    for y in 0..<height {
      let row = (0..<width).flatMap { [UInt8($0 * 255 / width), UInt8(y * 255 / height), 90, 255] as [UInt8] }
      try writer.write(row: row.span.bytes, alpha: .straight)
    }
    try file.commit()
    return path
  }

  private func size(_ name: String) throws -> [Int] {
    let picture = try Picture.open(BytePath(outputs.file(name)))
    return [picture.width, picture.height]
  }

  @Test func manyFilesBecomeSmallOnes() throws {
    let files = try (0..<7).map { try make("\($0).png", width: 300 + $0) }
    let result = Program.run(
      (["thumbnail"] + files + ["--out", outputs.path, "--size", "60", "--threads", "3", "--budget", "2MB"])
        .map { Array($0.utf8) })
    #expect(result.code == 0 && result.error.isEmpty, "\(result.error)")
    #expect(outputs.fileNames == (0..<7).map { "\($0).png" })
    #expect(try size("0.png") == [60, 40])
    for part in ["7 made, 0 failed", "threads        3", "peak counted", "peak resident", "time"] {
      #expect(result.output.contains(part), "\(result.output)")
    }
    // What is small already stays as it is.
    #expect(Program.run("thumbnail", "--out=\(outputs.path)", "--size=999", files[0]).code == 0)
    #expect(try size("0.png") == [300, 200])
  }

  @Test func theDirectoryIsMadeWhereItIsMissingButNotThoseAbove() throws {
    let file = try make("a.png")
    let result = Program.run("thumbnail", file, "--out", outputs.file("new"))
    #expect(result.code == 0 && result.error.isEmpty, "\(result.error)")
    #expect(try Picture.open(BytePath(outputs.file("new/a.png"))).width == 256)
    let failed = Program.run("thumbnail", file, "--out", outputs.file("no/such"))
    #expect(failed.code == 1 && failed.error.contains("no/such: cannot be written: the directory cannot be made"))
    #expect(outputs.fileNames == ["new"])
  }

  @Test("a recording foretells what is generated at other budgets, and is no file of those that are read or written")
  func recording() throws {
    let files = try (0..<9).map { try make("\($0).png", width: 300 + 40 * $0) }
    let trace = inputs.file("small.trace")
    func run(_ budget: Int, _ trace: String) -> Program.Result {
      Program.run(
        (["thumbnail"] + files + ["--out", outputs.path, "--budget", "\(budget)", "--trace", trace, "--json"])
          .map { Array($0.utf8) })
    }
    #expect(run(800_000, trace).code == 0)
    let recorded = try TraceFile(trace).trace
    for budget in [400_000, 800_000, 1_600_000] {
      let real = run(budget, inputs.file("again.trace"))
      #expect(real.number("generatedBytes") == recorded.replay(.lru, budget: budget).missedBytes, "\(real)")
    }
    #expect(run(800_000, files[0]).code == 2)
    #expect(run(800_000, outputs.file("0.png")).code == 2)
    let page = inputs.file("small.html")
    #expect(Program.run("thumbnail", files[0], "--out", outputs.path, "--report", page).code == 0)
    #expect(readFile(page)!.count > 10_000)
  }

  @Test("case 47: a file that fails is named, the others are done, and the exit code says so")
  func oneFails() throws {
    let good = try make("good.png"), bad = inputs.file("bad.png"), other = inputs.file("other.txt")
    let bytes = try #require(readFile(good))
    try write(Array(bytes[..<(bytes.count / 2)]), to: bad)
    try write(Array("not a picture".utf8), to: other)
    let missing = inputs.file("missing.jpg")
    let result = Program.run("thumbnail", bad, good, other, missing, "--out", outputs.path, "--json")
    #expect(result.code == 1)
    #expect(outputs.fileNames == ["good.png"], "nothing half-written is left")
    let lines = result.error.split(separator: "\n")
    #expect(lines.count == 3 && zip(lines, [bad, other, missing]).allSatisfy { $0.hasPrefix("lifecards: \($1): ") })
    #expect(result.number("made") == 1 && result.number("failed") == 3)
    #expect(result.output.contains("\"input\":\"\(bad)\",\"error\":\"\(bad): the file ends early"))
    #expect(result.output.contains("\"input\":\"\(good)\",\"output\":\"\(outputs.file("good.png"))\",\"width\":256"))
  }

  @Test func whatThereIsOfADamagedFileIsTakenOnRequest() throws {
    let good = try make("good.png"), bad = inputs.file("bad.png")
    let bytes = try #require(readFile(good))
    try write(Array(bytes[..<(bytes.count / 2)]), to: bad)
    let result = Program.run("thumbnail", bad, "--out", outputs.path, "--damaged")
    #expect(result.code == 0 && result.error.contains(bad) && result.error.contains("took what there is"))
    #expect(try size("bad.png") == [256, 171])
  }

  @Test func nothingBesideThePixelsIsPassedOn() throws {
    let path = try make("a.png")
    var bytes = try #require(readFile(path))
    // A chunk of text behind the header; nobody checks what it is not asked for.
    let text: [UInt8] = Array("tEXtGPS 52.5 13.4".utf8)
    bytes.insert(contentsOf: [0, 0, 0, UInt8(text.count - 4)] + text + [0, 0, 0, 0], at: 33)
    try write(bytes, to: path)
    let result = Program.run("thumbnail", path, "--out", outputs.path)
    #expect(result.code == 0 || result.error.contains("checksum"), "\(result.error)")
    guard let output = readFile(outputs.file("a.png")) else { return }
    #expect(!String(decoding: output, as: UTF8.self).contains("GPS"))
  }

  @Test("a wrong command line ends with code 2 and writes nothing")
  func usage() throws {
    let path = try make("a.png")
    let sub = try make("a.jpg")
    let lines = [
      ["thumbnail", path], ["thumbnail", "--out", outputs.path], ["thumbnail", path, "--out"],
      ["thumbnail", path, sub, "--out", outputs.path], ["thumbnail", path, "--out", inputs.path],
      ["thumbnail", path, "--out", outputs.path, "--size", "0"],
      ["thumbnail", path, "--out", outputs.path, "--level", "1"],
    ]
    for line in lines {
      let result = Program.run(line.map { Array($0.utf8) })
      #expect(result.code == 2 && result.output.isEmpty && result.error.hasPrefix("lifecards: "), "\(line)")
    }
    #expect(outputs.fileNames.isEmpty)
    let twice = Program.run("thumbnail", path, "--out", outputs.path, "--out=\(inputs.path)")
    #expect(twice.code == 2 && twice.error.contains("--out is given twice"))
  }

  @Test func anInputIsNotReplacedThroughALinkEither() throws {
    let (linked, other) = (try make("a.png"), try make("b.png"))
    #expect(symlink(linked, outputs.file("b.png")) == 0)
    let result = Program.run("thumbnail", linked, other, "--out", outputs.path)
    #expect(result.code == 2 && result.error.contains("a.png would be replaced"))
    #expect(outputs.fileNames == ["b.png"])
  }

  private func write(_ bytes: [UInt8], to path: String) throws {
    let file = try ReplacementFile(replacing: BytePath(path))
    try bytes.withUnsafeBytes { try file.write($0) }
    try file.commit()
  }
}
