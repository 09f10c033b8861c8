import Cards
import MemChunks
import Pictures
import TestSupport
import Testing

@Suite(.enabled(if: Program.isBuilt, "the program has not been built beside the tests")) struct LifecardsTests {
  let directory = TemporaryDirectory()

  /// A small document, made by the program itself.
  private func makeDocument() -> String {
    let path = directory.file("card.ora")
    let result = Program.run("sample", path, "--layers", "9", "--width", "120", "--height", "80", "--seed", "5")
    #expect(result.code == 0, "\(result.error)")
    return path
  }

  @Test func rendersTheSampleItMakesAndGivesTheAccount() {
    let output = directory.file("card.png")
    let result = Program.run("render", makeDocument(), output, "--budget", "512KB")
    #expect(result.code == 0, "\(result.error)")
    #expect(result.error.isEmpty)
    for part in ["120 x 80", "9 drawn", "budget         0.50 MB", "peak counted", "generations", "frees", "time"] {
      #expect(result.output.contains(part), "\(result.output)")
    }
    #expect(readFile(output)?.isEmpty == false)
    #expect(directory.fileNames == ["card.ora", "card.png"])
  }

  @Test func givesTheAccountAsJSON() {
    let result = Program.run("render", makeDocument(), directory.file("card.png"), "--json", "--budget=512KB")
    #expect(result.code == 0, "\(result.error)")
    #expect(result.output.hasPrefix("{\"output\":\"") && result.output.hasSuffix("}\n"))
    for part in ["\"budgetBytes\":524288,", "\"peakCountedBytes\":", "\"generations\":", "\"seconds\":"] {
      #expect(result.output.contains(part), "\(result.output)")
    }
  }

  @Test func theSameSeedGivesTheSameDocument() {
    let (first, second) = (directory.file("1.ora"), directory.file("2.ora"))
    for path in [first, second] { #expect(Program.run("sample", path, "--width=64", "--height=48").code == 0) }
    let pictures = [first, second].map { path in
      _ = Program.run("render", path, path + ".png")
      return readFile(path + ".png")
    }
    #expect(pictures[0] != nil && pictures[0] == pictures[1])
  }

  @Test(
    "a wrong command line ends with code 2",
    arguments: [
      [], ["paint"], ["render"], ["render", "a.ora"], ["render", "a.ora", "b.png", "c"],
      ["render", "a.ora", "b.png", "--budget"], ["render", "a.ora", "b.png", "--budget", "much"],
      ["render", "a.ora", "b.png", "--fast"], ["sample"], ["sample", "a.ora", "b.ora"], ["sample", "-"], ["info"],
      ["info", "a.ora", "b.ora"], ["info", "a.ora", "--level", "1"],
    ])
  func usage(words: [String]) {
    let result = Program.run(words.map { Array($0.utf8) })
    #expect(result.code == 2)
    #expect(result.output.isEmpty)
    #expect(result.error.hasPrefix("lifecards: ") && result.error.contains("--help"))
  }

  @Test(
    "a number that no machine can serve is a wrong command line",
    arguments: [
      "render a b --budget", "render a b --threads", "render a b --level", "info a --budget", "info a --threads",
      "sample a --layers", "sample a --width", "sample a --height", "sample a --seed",
    ])
  func absurdNumbers(words: String) {
    let words = words.split(separator: " ").map { Array($0.utf8) }
    for number in ["-1", "200000000GB", "9223372036854775808", "1e9", "", "-9223372036854775808", "0x10", "NaN", "inf"]
    {
      let result = Program.run(words + [Array(number.utf8)])
      #expect(result.code == 2, "\(number)")
      #expect(result.error.contains(": expected a "), "\(result.error)")
    }
  }

  @Test(arguments: ["render", "info", "sample"])
  func eachCommandHasHelp(command: String) {
    for words in [["--help"], ["a", "-h"], ["--budget", "--help"]] {
      let help = Program.run(([command] + words).map { Array($0.utf8) })
      #expect(help.code == 0 && help.error.isEmpty)
      #expect(help.output.contains("usage: lifecards \(command) "))
      #expect(help.output.contains("examples:\n  lifecards \(command) "))
      #expect(help.output.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }
  }

  @Test func helpAndVersionGoToStandardOutput() {
    let help = Program.run("--help")
    #expect(help.code == 0 && help.error.isEmpty && help.output.contains("examples:"))
    let version = Program.run("--version")
    #expect(version.code == 0 && version.output.hasPrefix("lifecards "))
  }

  @Test("case 51: a failure ends with code 1, names the file, and leaves an existing output as it was")
  func failure() {
    let (input, output) = (directory.file("bad\u{1b}.ora"), directory.file("out.png"))
    writeFile(input, Array("not a document".utf8))
    for existing: [UInt8]? in [nil, [1, 2, 3]] {
      if let existing { writeFile(output, existing) }
      let result = Program.run("render", input, output)
      #expect(result.code == 1)
      #expect(result.output.isEmpty)
      #expect(result.error.contains("bad\\u{1b}.ora: cannot be opened: "), "\(result.error)")
      #expect(readFile(output) == existing)
    }
    #expect(directory.fileNames == ["bad\u{1b}.ora", "out.png"])
  }

  @Test func aBudgetTooSmallSaysWhatIsEnough() throws {
    let (document, output) = (makeDocument(), directory.file("out.png"))
    let result = Program.run("render", document, output, "--budget", "1KB")
    #expect(result.code == 1)
    #expect(directory.fileNames == ["card.ora"])
    let least = try #require(result.error.split(separator: "raise --budget to at least ").last?.dropLast())
    #expect(result.error.contains("card.ora: ") && least.hasSuffix(" MB"), "\(result.error)")
    let second = Program.run("render", document, output, "--budget", String(least))
    #expect(second.code == 0, "\(second.error)")
  }

  @Test func aDirectoryIsNoDocument() {
    let result = Program.run("render", directory.path, directory.file("out.png"))
    #expect(result.code == 1)
    #expect(
      result.error.hasPrefix("lifecards: \(directory.path): ") && result.error.contains("directory"), "\(result.error)")
    #expect(directory.fileNames == [])
  }

  @Test func namesOfLayersDoNothingToTheTerminal() throws {
    let (path, png) = (directory.file("card.ora"), directory.file("card.png"))
    #expect(Program.run("render", makeDocument(), png).code == 0)
    // A source that leaves the file is an error that names the layer.
    let layer = CardLayer(name: "a\u{9b}31m\u{202e}b", source: "../a.png")
    let items: [CardDocument.Item] = [.stackStart(CardStack(name: "")), .layer(layer), .stackEnd(start: 0)]
    try CardDocument(width: 120, height: 80, items: items).write(
      to: BytePath(path), in: ChunkPool(budget: .megabytes(2))
    ) { _ in BufferedSource(try FileSource(BytePath(png))) }
    let result = Program.run("render", path, png)
    #expect(result.code == 1)
    #expect(result.error.contains("layer \"a\\u{9b}31m\\u{202e}b\": its source"), "\(result.error)")
  }

  @Test func aDocumentIsNotReplacedByItsPicture() {
    let path = makeDocument()
    let old = readFile(path)
    #expect(Program.run("render", path, path).code == 2)
    #expect(readFile(path) == old)
  }

  @Test func namesThatAreNotUTF8Work() {
    let (input, output) = (Array("\(directory.path)/".utf8) + [0xff, 0x80], Array("\(directory.path)/".utf8) + [0xfe])
    let sample = Program.run(["sample", "--width=64", "--height=48"].map { Array($0.utf8) } + [input])
    #expect(sample.code == 0, "\(sample.error)")
    let result = Program.run([Array("render".utf8), input, output])
    #expect(result.code == 0, "\(result.error)")
    #expect(directory.fileNames.count == 2)
  }
}
