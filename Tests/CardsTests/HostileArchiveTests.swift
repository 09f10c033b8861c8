import Cards
import MemChunks
import Pictures
import TestSupport
import Testing

/// Archives that are damaged or lie, and such as are right but unusual.
@Suite struct HostileArchiveTests {
  let directory = TemporaryDirectory()
  private var path: String { directory.file("card.ora") }
  private let layer = CardLayer(name: "", source: "a.png")

  /// A document with one layer.
  private func makeDocument() -> ArchiveMaker {
    var maker = ArchiveMaker(elements: "<layer src='a.png'/>")
    maker.add("a.png", width: 40, height: 30)
    return maker
  }

  /// The error of opening the document or reading the whole of its layer.
  private func error(_ maker: ArchiveMaker) -> String {
    maker.write(to: path)
    let pool = ChunkPool(budget: .megabytes(1))
    let error = #expect(throws: (any Error).self) {
      let file = try OpenRasterFile(BytePath(path))
      try file.pixels(of: layer, header: file.header(of: layer), in: pool).ensureReady()
    }
    return error.map { "\($0)" } ?? ""
  }

  private func expectReadable(_ maker: ArchiveMaker) throws {
    maker.write(to: path)
    let file = try OpenRasterFile(BytePath(path))
    let pool = ChunkPool(budget: .megabytes(1))
    let pixels = try file.pixels(of: layer, header: file.header(of: layer), in: pool)
    #expect(try pixels.withBytes { $0.unsafeLoad(fromByteOffset: 4 * 40 * 30 - 4, as: UInt8.self) } == 200)
    #expect(pool.statistics.generations == 1)
  }

  @Test func storedAndDeflatedEntriesAreRead() throws {
    var maker = makeDocument()
    try expectReadable(maker)
    maker.deflate()
    try expectReadable(maker)
  }

  @Test func sizesAndPositionsOf64BitsAreRead() throws {
    var maker = makeDocument()
    for index in maker.entries.indices { maker.entries[index].isWide = true }
    try expectReadable(maker)
    maker.deflate()
    try expectReadable(maker)
  }

  @Test func anArchiveBehindOtherBytesIsRead() throws {
    writeFile(path, Array(repeating: 7, count: 5_000) + makeDocument().file)
    _ = try OpenRasterFile(BytePath(path)).header(of: layer)
  }

  @Test func aCommentThatLooksLikeTheEndIsAComment() throws {
    var file = makeDocument().file
    let comment: [UInt8] = [0x50, 0x4b, 5, 6] + Array(repeating: 0, count: 18) + Array("and so on".utf8)
    // The length of the comment is the last that a file says without one.
    file.replaceSubrange(file.count - 2..<file.count, with: [UInt8(comment.count), 0])
    writeFile(path, file + comment)
    _ = try OpenRasterFile(BytePath(path)).header(of: layer)
  }

  @Test func moreEntriesThan16BitsCountAreRead() throws {
    var maker = makeDocument()
    for index in 0..<66_000 { maker.add("\(index)", []) }
    try expectReadable(maker)
  }

  @Test func moreThan100000EntriesAreRefused() {
    var maker = makeDocument()
    for index in 0..<100_000 { maker.add("\(index)", []) }
    #expect(error(maker).contains("more than 100000 entries"))
  }

  @Test func namesThatTakeTooMuchMemoryAreRefused() {
    var maker = makeDocument()
    let long = String(repeating: "x", count: 65_000)
    for index in 10..<140 { maker.add("\(long)\(index)", []) }
    #expect(error(maker).contains("the names of its entries"))
  }

  /// What an entry may say that is not so, and what the error says then.
  private enum Lie: CaseIterable {
    case otherMethod, encryption, length, storedLength, tooLong, farTooLong, deflated

    func apply(to entry: inout ArchiveMaker.Entry) {
      switch self {
      case .otherMethod: entry.method = 12
      case .encryption: entry.isEncrypted = true
      case .length: entry.claimedByteCount = 9
      case .storedLength: entry.claimedStoredByteCount = 9
      case .tooLong: (entry.claimedStoredByteCount, entry.claimedByteCount) = (1 << 30, 1 << 30)
      case .farTooLong:
        entry.isWide = true
        (entry.claimedStoredByteCount, entry.claimedByteCount) = (.max, .max)
      case .deflated: entry.method = 8
      }
    }

    var reason: String {
      switch self {
      case .otherMethod: "method 12"
      case .encryption: "is encrypted"
      case .length, .storedLength: "is not compressed"
      case .tooLong, .farTooLong: "more bytes than the file"
      case .deflated: "not what deflate makes"
      }
    }
  }

  @Test func anEntryThatLiesIsNamed() {
    for lie in Lie.allCases {
      var maker = makeDocument()
      maker.change("a.png", lie.apply)
      let text = error(maker)
      #expect(text.contains("card.ora: a.png") && text.contains(lie.reason), "\(text)")
    }
  }

  @Test func aDeflatedEntryThatIsShorterThanItSaysIsNamed() {
    var maker = makeDocument()
    maker.change("a.png") { $0.bytes.removeLast(20) }
    maker.deflate("a.png")
    maker.change("a.png") { $0.claimedByteCount = $0.bytes.count + 20 }
    #expect(error(maker).contains("a.png: cannot be read: it has 20 bytes fewer"))
  }

  @Test func aDescriptionWithTheWrongChecksumIsRefused() {
    var maker = makeDocument()
    maker.deflate()
    maker.change("stack.xml") { $0.checksumError = 1 }
    #expect(error(maker).contains("stack.xml: cannot be read: its checksum is wrong"))
  }

  @Test func aDescriptionThatUnfoldsWithoutEndIsRefusedAfter4MB() {
    var maker = ArchiveMaker(elements: String(repeating: " ", count: 6 << 20))
    maker.deflate()
    #expect(error(maker).contains("longer than 4194304 bytes"))
  }

  @Test func aDirectoryThatIsShorterThanItSaysIsRefused() {
    var maker = makeDocument()
    maker.claimedEntryCount = 400
    #expect(error(maker).contains("the list of its entries is damaged"))
  }

  @Test func anyByteMayBeWrongAndAnyPartMissing() {
    var maker = makeDocument()
    maker.deflate("stack.xml")
    let whole = maker.file
    var random = SeededGenerator(seed: 3)
    let pool = ChunkPool(budget: .megabytes(1))
    for round in 0..<1_500 {
      var bytes = whole
      if round % 3 == 0 { bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random)) }
      for _ in 0..<round % 4 {
        bytes[bytes.indices.randomElement(using: &random)!] = .random(in: 0...255, using: &random)
      }
      writeFile(path, bytes)
      // Whatever comes of it: it ends, and touches no memory that is not its own.
      guard let file = try? OpenRasterFile(BytePath(path)), let header = try? file.header(of: layer) else { continue }
      guard header.rgbaByteCount < 1 << 19 else { continue }
      try? file.pixels(of: layer, header: header, in: pool).ensureReady()
    }
    #expect(pool.statistics.reserved == 0)
  }

  @Test func directoriesAndPipesAreNoDocuments() {
    let error = #expect(throws: CardError.self) { try OpenRasterFile(BytePath(directory.path)) }
    #expect(error?.description.contains("not a file") == true)
    #expect(throws: CardError.self) { try OpenRasterFile("/dev/null") }
  }
}
