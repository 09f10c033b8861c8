import Testing
import ToolSupport

@Suite struct ToolSupportTests {
  private func parse(_ words: [String]) throws -> Arguments {
    try Arguments(words.map { Array($0.utf8) }, flags: ["--json"], options: ["--budget", "--count"])
  }

  @Test func optionsMayStandAnywhere() throws {
    let arguments = try parse(["in.ora", "--budget", "10MB", "--json", "out.png", "--count=3"])
    #expect(arguments.operands == [Array("in.ora".utf8), Array("out.png".utf8)])
    #expect(arguments.has("--json"))
    #expect(arguments.value(of: "--budget") == "10MB")
    #expect(try arguments.byteCount(of: "--budget", default: 0) == 10 << 20)
    #expect(try arguments.number(of: "--count", in: 1...9, default: 1) == 3)
    #expect(try parse([]).number(of: "--count", in: 1...9, default: 7) == 7)
  }

  @Test func afterTwoDashesEverythingIsAnOperand() throws {
    let arguments = try parse(["--", "--json", "-"])
    #expect(arguments.operands == [Array("--json".utf8), Array("-".utf8)])
    #expect(!arguments.has("--json"))
  }

  @Test func operandsNeedNotBeUTF8() throws {
    #expect(try Arguments([[0xff, 0xfe]]).operands == [[0xff, 0xfe]])
  }

  @Test(arguments: [
    ["--unknown"], ["--budget"], ["--json", "--json"], ["--budget=1", "--budget=2"], ["--json=yes"], ["-x"],
  ])
  func whatCannotBeUnderstoodIsRefused(words: [String]) {
    #expect(throws: UsageError.self) { try parse(words) }
  }

  @Test func numbersOutOfRangeAreRefused() throws {
    for text in ["0", "10", "three", "1.5", ""] {
      #expect(throws: UsageError.self) { try parse(["--count=\(text)"]).number(of: "--count", in: 1...9, default: 1) }
    }
    #expect(throws: UsageError.self) { try parse(["--budget=lots"]).byteCount(of: "--budget", default: 1) }
  }

  @Test func sizesThatCannotBeCountedAreRefused() throws {
    #expect(try parse(["--budget=1048576GB"]).byteCount(of: "--budget", default: 1) == 1 << 50)
    for text in ["1048577GB", "200000000GB", "9223372036854775807", "9223372036854775808", "99999999999999999999GB"] {
      #expect(throws: UsageError.self) { try parse(["--budget=\(text)"]).byteCount(of: "--budget", default: 1) }
    }
  }

  @Test func helpIsAskedForBeforeTwoDashes() {
    func asks(_ words: String...) -> Bool { Arguments.askForHelp(words.map { Array($0.utf8) }) }
    #expect(asks("--help") && asks("a", "-h") && asks("--budget", "--help"))
    #expect(!asks() && !asks("a") && !asks("--", "--help"))
  }

  @Test func sizesAreReadInPowersOfTwo() {
    let sizes = [
      ("10MB", 10 << 20), ("512KB", 512 << 10), ("1.5GB", 3 << 29), ("4096", 4_096), ("7B", 7), ("2 mb", 2 << 20),
      ("0", 0), ("3k", 3_072), ("0.5KB", 512),
    ]
    for (text, bytes) in sizes { #expect(parseByteCount(text) == bytes, "\(text)") }
    for text in ["", "MB", "-1MB", "1XB", "1.2.3MB", "99999999999GB", "1e3", "10MBs", ".", "٣MB"] {
      #expect(parseByteCount(text) == nil, "\(text)")
    }
  }

  @Test func sizesAreShownWithTwoDecimals() {
    #expect(megabytes(10 << 20) == "10.00 MB")
    #expect(megabytes(1_572_864) == "1.50 MB")
    #expect(megabytes(0) == "0.00 MB")
    #expect(megabytes(44_800_000) == "42.72 MB")
    #expect(megabytes(.max) == "8796093022208.00 MB")
  }

  @Test func aSizeRoundedUpIsEnoughWhenItIsReadBack() throws {
    #expect(megabytesAtLeast(1 << 20) == "1.00 MB" && megabytesAtLeast(1 << 20 + 1) == "1.01 MB")
    #expect(megabytesAtLeast(.max) == "8796093022208.00 MB")
    for size in (0..<1_000).map({ 7_919 * $0 * $0 }) {
      let read = try #require(parseByteCount(megabytesAtLeast(size)))
      #expect(size...size + 10_486 ~= read, "\(size)")
    }
  }

  @Test func progressSaysHowLongItWillTake() {
    func text(_ done: Int, _ total: Int, _ milliseconds: Int) -> String {
      ProgressLine.text("at it", done, of: total, after: .milliseconds(milliseconds))
    }
    #expect(text(0, 100, 5_000) == "at it 0 %")
    #expect(text(50, 100, 900) == "at it 50 %")
    #expect(text(50, 100, 2_000) == "at it 50 %, 2 s left")
    #expect(text(1, 100, 1_000) == "at it 1 %, 1 min 39 s left")
    #expect(text(1, 10_000, 2_000) == "at it 0 %, 5 h 33 min left")
    #expect(text(1, .max, 1_000_000).hasSuffix("h 46 min left"))
    #expect(text(100, 100, 2_000) == "at it 100 %")
  }

  @Test func controlCharactersInNamesDoNothing() {
    #expect(printable("a\u{1b}[31mb\n\u{9b}\u{202e}\u{7f}") == "a\\u{1b}[31mb\\u{a}\\u{9b}\\u{202e}\\u{7f}")
    #expect(printable("Grüße, 日本 👩‍👩‍👧") == "Grüße, 日本 👩‍👩‍👧")
  }

  @Test func jsonIsWrittenAsTheStandardSays() {
    let value = JSON.object([
      ("a\"\\\n\u{1b}é", .string("\u{7f}/")), ("list", .array([.integer(-3), .number(0.5), .bool(true), .null])),
      ("none", .number(.infinity)),
    ])
    #expect(
      value.text == #"{"a\"\\\u000a\u001bé":"\u007f/","list":[-3,0.5,true,null],"none":null}"#)
  }

  #if os(Linux)
    @Test func thePeakOfResidentMemoryIsKnown() throws {
      #expect(try #require(peakResidentByteCount()) > 1 << 20)
    }
  #endif

  @Test func onePathIsTheSameFileUnderTwoNames() {
    #expect(isSameFile(Array("/tmp".utf8), Array("/tmp/.".utf8)))
    #expect(!isSameFile(Array("/tmp".utf8), Array("/".utf8)))
    #expect(!isSameFile(Array("/none".utf8), Array("/none".utf8)))
  }
}
