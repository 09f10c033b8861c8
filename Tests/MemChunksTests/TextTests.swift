import MemChunks
import TestSupport
import Testing

/// What people read: numbers with their nouns, unlabelled chunks, labels that would break a line.
@Suite("Texts")
struct TextTests {
  private static let hostile = "a\nb\t\u{1b}[31m\u{202e}c\u{2028}\u{0}"
  private static let escaped = "a\\u{a}b\\u{9}\\u{1b}[31m\\u{202e}c\\u{2028}\\u{0}"

  @Test(
    "Sizes in tooLarge: bytes alone below 1 KB, both units above",
    arguments: [
      (1, 0, "1 byte, more than the budget, 0 bytes;"), (2, 1, "2 bytes, more than the budget, 1 byte;"),
      (1_024, 1_023, "1 KB (1024 bytes), more than the budget, 1023 bytes;"),
      (1 << 20, (1 << 20) - 1, "1 MB (1048576 bytes), more than the budget, 1 MB (1048575 bytes);"),
      (3 << 20, 2 << 20, "3 MB (3145728 bytes), more than the budget, 2 MB (2097152 bytes);"),
    ])
  func tooLarge(needed: Int, budget: Int, text: String) {
    let pool = ChunkPool(budget: .bytes(budget))
    let error = chunkError { try pool.tracked("a", needed).ensureReady() }
    #expect(error?.description == "\"a\" needs \(text) make it smaller, or raise the limit")
  }

  @Test("A number that rounds to a whole larger unit is said in that unit")
  func rounding() {
    let texts = [1_023, 1_048_523, 1_048_525, 1_048_575, 1 << 20, (1 << 30) - 1, 1 << 30].map {
      "\(ByteCount.bytes($0))"
    }
    #expect(texts == ["1023 bytes", "1023.9 KB", "1 MB", "1 MB", "1 MB", "1 GB", "1 GB"])
  }

  /// Every error, for one chunk of a label.
  private static func errors(label: String, group: String?) -> [ChunkError] {
    [
      .tooLarge(label: label, needed: 2, limit: 1, group: group), .recursive([label, "b", label]),
      .generationFailed(label: label, underlying: Broken()), .cancelled(label: label, atDeadline: true),
      .cancelled(label: label, atDeadline: false), .poolClosed(label: label, afterFork: true),
      .poolClosed(label: label, afterFork: false), .invalidSize(label: label, size: -1),
    ]
  }

  @Test("Every error of an unlabelled chunk, or group, says so in words")
  func unlabelled() throws {
    for error in Self.errors(label: "", group: "") {
      #expect(error.description.contains("a chunk without label") && !error.description.contains("\"\""), "\(error)")
    }
    let inGroup = Self.errors(label: "", group: "")[0]
    #expect(
      inGroup.description
        == "a chunk without label needs 2 bytes, more than the limit of a group without label, 1 byte; "
        + "make it smaller, or raise the limit")
  }

  @Test("Every error writes control characters in labels so that they do nothing, on one line")
  func hostileLabels() throws {
    for error in Self.errors(label: Self.hostile, group: Self.hostile) {
      #expect(error.description.contains("\"\(Self.escaped)\""), "\(error)")
      #expect(!error.description.contains { $0.isNewline || $0 == "\u{1b}" })
    }
    let pool = ChunkPool(budget: .bytes(4))
    let chunk = pool.tracked(Self.hostile, 4)
    let numbers = try #require(try chunk.withReady { refusal { try pool.tracked(Self.hostile, 1).ensureReady() } })
    #expect(numbers.description.hasPrefix("no room for \"\(Self.escaped)\": needed 1 byte, free 0 bytes of 4 bytes;"))
    #expect(numbers.description.contains("; held by \"\(Self.escaped)\" ("))
  }

  @Test(
    "Lists of chunks: none empty, how many are unlabelled at the end",
    arguments: [
      (["", ""], "2 unlabelled", "2 unlabelled"), (["a", ""], "a, 1 unlabelled", "\"a\", 1 unlabelled"),
      (["", "a", "", "b"], "a, b, 2 unlabelled", "\"a\", \"b\", 2 unlabelled"),
      (["", "", "", "", ""], "4 unlabelled, ...", "4 unlabelled"),
    ])
  func lists(labels: [String], wanted: String, holders: String) throws {
    let pool = ChunkPool(budget: .bytes(labels.count))
    let held = labels.map { pool.tracked($0, 1) }, others = labels.map { pool.tracked($0, 1) }
    let numbers = try #require(try pool.withReady(held) { refusal { try pool.withReady(others) {} } })
    #expect(numbers.label == wanted)
    #expect(numbers.description.contains("held by \(holders) ("), "\(numbers)")
    #expect(numbers.description.hasPrefix("no room for \"\(wanted)\": "))
  }

  @Test("The table counts in the singular and the plural, names the unlabelled, and keeps a row on a line")
  func table() throws {
    let pool = ChunkPool(budget: .bytes(2_048), time: ManualClock().read)
    let group = ChunkGroup(in: pool, label: Self.hostile)
    let chunk = pool.tracked(Self.hostile, 1, group: group), nameless = pool.tracked("", 1_024)
    try chunk.ensureReady()
    #expect("\(pool)".split(separator: "\n")[1] == "0 hits, 1 miss, 1 generation, 0 frees, 0 failures, 0 refusals")
    try chunk.ensureReady()
    try nameless.ensureReady()
    nameless.discard()
    try nameless.ensureReady()
    chunk.hooks.generate = { _ in throw Broken() }
    chunk.discard()
    try? chunk.ensureReady()
    let lines = "\(pool)".split(separator: "\n")
    #expect(lines[1] == "1 hit, 4 misses, 3 generations, 2 frees, 1 failure, 0 refusals")
    #expect(lines.count == 4 && lines[3].hasPrefix("-      -      ready  1 KB"))
    chunk.hooks.generate = nil
    try chunk.ensureReady()
    #expect(
      "\(pool)".split(separator: "\n").count == 5 && "\(pool)".contains("\n\(Self.escaped)  \(Self.escaped)  ready"))
    keep([chunk, nameless])
  }

  @Test("Labels that only look odd stay as they are: accents, other scripts, joined pictures")
  func harmlessLabels() {
    let label = "é ü 漢字 \u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}"
    #expect("\(ChunkError.cancelled(label: label, atDeadline: true))".hasSuffix("for \"\(label)\""))
  }
}
