import TestSupport
import Testing

/// What is told of a document, and what rendering it then takes.
@Suite(.enabled(if: Program.isBuilt, "the program has not been built beside the tests")) struct LifecardsDocumentTests {
  let directory = TemporaryDirectory()
  private let document = Self.sample.path
  private var picture: String { directory.file("card.png") }

  /// One for all tests, because it takes as long as they do.
  private static let sample: (path: String, directory: TemporaryDirectory) = {
    let directory = TemporaryDirectory()
    let path = directory.file("card.ora")
    #expect(Program.run("sample", path, "--layers=12", "--width=300", "--height=200").code == 0)
    return (path, directory)
  }()

  @Test func infoTellsWhatIsInADocument() {
    let text = Program.run("info", document)
    #expect(text.code == 0 && text.error.isEmpty, "\(text.error)")
    for part in ["300 x 200", "12: 12 drawn", "svg:src-over (13)", "as RGBA        2.75 MB", "budget         10.00 MB"]
    {
      #expect(text.output.contains(part), "\(text.output)")
    }
    let json = Program.run("info", document, "--json")
    #expect(json.code == 0 && json.output.hasPrefix("{\"input\":") && json.output.hasSuffix("}\n"))
    #expect(json.output.contains("\"operators\":{\"svg:src-over\":13}"), "\(json.output)")
    for (name, value) in [
      ("width", 300), ("height", 200), ("layers", 12), ("rgbaBytes", 12 * 4 * 300 * 200), ("bands", 1),
    ] {
      #expect(json.number(name) == value, "\(name)")
    }
  }

  @Test(
    "the peak that is told is within 15 % of what then happens", arguments: ["10MB", "700KB", "300KB"], ["1", "2"])
  func forecast(budget: String, threads: String) throws {
    let info = Program.run("info", document, "--json", "--budget", budget, "--threads", threads)
    let render = Program.run("render", document, picture, "--json", "--budget", budget, "--threads", threads)
    #expect(render.code == 0, "\(render.error)")
    let (told, counted) = (
      try #require(info.number("peakCountedBytes")), try #require(render.number("peakCountedBytes"))
    )
    #expect(abs(told - counted) * 100 <= 15 * counted, "\(told) told, \(counted) counted")
    #expect(info.number("bands") == render.number("bands"))
  }

  @Test func theLeastBudgetIsEnoughAndLessIsNot() throws {
    let least = try #require(Program.run("info", document, "--json", "--threads=1").number("leastBudgetBytes"))
    let enough = Program.run("render", document, picture, "--threads=1", "--budget", "\(least)")
    #expect(enough.code == 0, "\(enough.error)")
    #expect(Program.run("render", document, picture, "--threads=1", "--budget", "\(least - 1)").code == 1)
    #expect(Program.run("info", document, "--threads=1", "--budget", "\(least - 1)").code == 1)
  }

  @Test func theBytesAreTheSameForEveryBudgetAndNumberOfThreads() {
    var pictures: [[UInt8]?] = []
    for (budget, threads) in [("10MB", "1"), ("10MB", "2"), ("10MB", "8"), ("300KB", "1"), ("300KB", "8")] {
      let result = Program.run("render", document, picture, "--budget", budget, "--threads", threads)
      #expect(result.code == 0, "\(result.error)")
      pictures.append(readFile(picture))
    }
    #expect(pictures[0] != nil && pictures.allSatisfy { $0 == pictures[0] })
  }

  @Test func theLevelChangesTheFileAndNotThePixels() {
    for level in ["0", "9"] {
      #expect(Program.run("render", document, picture + level, "--level", level).code == 0)
    }
    let sizes = ["0", "9"].map { readFile(picture + $0)?.count ?? 0 }
    #expect(sizes[0] > 4 * 300 * 200 && sizes[1] < sizes[0] && sizes[1] > 0)
  }

  #if os(Linux)
    @Test("no byte but the output is written, also where layers are decoded again", arguments: ["10MB", "300KB"])
    func written(budget: String) throws {
      let result = Program.run("render", document, picture, "--json", "--budget", budget)
      let size = try #require(readFile(picture)).count
      #expect(result.writtenByteCount == size + result.outputBytes.count)
    }
  #endif
}
