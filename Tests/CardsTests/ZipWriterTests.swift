import Cards
import Pictures
import TestSupport
import Testing

@Suite struct ZipWriterTests {
  let directory = TemporaryDirectory()
  private var path: BytePath { BytePath(directory.file("card.ora")) }

  /// Writes an archive with the entries that a document needs, and more.
  private func write(_ more: (inout ZipWriter) throws -> Void) throws {
    let file = try ReplacementFile(replacing: path)
    var archive = ZipWriter(file)
    try archive.add("mimetype", Array("image/openraster".utf8), isDeflated: false)
    let stack = "<image w='1' h='1'><stack><layer src='a'/></stack></image>"
    try archive.add("stack.xml", Array(stack.utf8), isDeflated: true)
    try more(&archive)
    try archive.finish()
    try file.commit()
  }

  private let picture = makePNG(width: 3, rows: [Array(repeating: 9, count: 12), Array(repeating: 8, count: 12)])

  @Test func anEntryThatCouldHaveMoreThan32BitsCountHasWideFields() throws {
    for mostBytes in [1_000, 0xffff_fffe, 0xffff_ffff, 1 << 40] {
      try write { archive in
        try archive.begin("a", mostBytes: mostBytes)
        // In two pieces, as an encoder gives them.
        try picture.prefix(50).withUnsafeBytes { try archive.append($0) }
        try picture.dropFirst(50).withUnsafeBytes { try archive.append($0) }
        try archive.end()
        try archive.add("b", picture, isDeflated: true)
      }
      let file = try OpenRasterFile(path)
      for source in ["a", "b"] {
        let header = try file.header(of: CardLayer(name: "", source: source))
        #expect(header.width == 3 && header.height == 2)
      }
      #expect(try Rendering(file, budget: 1 << 20).pixels == [9, 9, 9, 9])
      let isWide = mostBytes >= 0xffff_ffff
      let whole = try #require(readFile(directory.file("card.ora")))
      // The version that a reader needs, in the header of the third entry.
      let headers = whole.indices.filter { whole[$0...].starts(with: [0x50, 0x4b, 3, 4]) }
      #expect(whole[headers[2] + 4] == (isWide ? 45 : 20))
    }
  }

  @Test func moreEntriesThan16BitsCountHaveAWideEnd() throws {
    try write { archive in
      for index in 0..<65_600 { try archive.add("\(index)", [], isDeflated: false) }
      try archive.add("a", picture, isDeflated: false)
    }
    let file = try OpenRasterFile(path)
    #expect(try file.header(of: CardLayer(name: "", source: "a")).width == 3)
  }
}
