import Cards
import MemChunks
import Pictures
import TestSupport
import Testing

@Suite struct RenderRulesTests {
  let directory = TemporaryDirectory()
  let pool = ChunkPool(budget: .megabytes(1))

  /// Renders a document of 4 x 4 pixels and gives back its pixels.
  @discardableResult
  private func render(_ maker: ArchiveMaker) throws -> [UInt8] {
    let path = directory.file("card.ora")
    maker.write(to: path)
    _ = try OpenRasterFile(BytePath(path)).render(to: BytePath(directory.file("out.png")), in: pool)
    return try readPNG(directory.file("out.png")).pixels
  }

  private func pixel(_ pixels: [UInt8], _ x: Int, _ y: Int) -> [UInt8] {
    Array(pixels[4 * (4 * y + x)..<4 * (4 * y + x + 1)])
  }

  @Test("case 50: negative offsets crop, layers off the canvas are not decoded")
  func offsets() throws {
    var maker = ArchiveMaker(
      elements: """
        <layer src='a' x='-3' y='-2'/><layer src='a' x='3' y='3'/><layer src='broken' x='4' y='0'/>
        <layer src='broken' x='0' y='-4'/><layer src='broken' x='2147483647' y='-2147483648'/>
        """)
    maker.add("a", pixel: [1, 2, 3, 255])
    maker.add("broken")
    // The header stays whole, the pixels do not: decoding it would fail.
    maker.entries[maker.entries.count - 1].bytes.removeLast(30)
    let pixels = try render(maker)
    for y in 0..<4 {
      for x in 0..<4 {
        let isCovered = x == 0 && y < 2 || x == 3 && y == 3
        #expect(pixel(pixels, x, y) == (isCovered ? [1, 2, 3, 255] : [0, 0, 0, 0]), "\(x), \(y)")
      }
    }
  }

  @Test("case 50: hidden and fully transparent layers and stacks are not even looked at")
  func hidden() throws {
    var maker = ArchiveMaker(
      elements: """
        <layer src='missing' visibility='hidden' composite-op='svg:multiply'/>
        <layer src='missing' opacity='0'/>
        <stack visibility='hidden' composite-op='svg:plus'><layer src='missing' composite-op='x:y'/></stack>
        <stack visibility='hidden' isolation='auto'><stack><layer src='missing'/></stack></stack>
        <stack opacity='0'><layer src='missing'/></stack>
        <stack opacity='0' isolation='auto'><layer src='missing'/></stack>
        <layer src='a'/>
        """)
    maker.add("a", pixel: [9, 8, 7, 255])
    #expect(pixel(try render(maker), 0, 0) == [9, 8, 7, 255])
    #expect(pool.statistics.generations == 2)
  }

  @Test("case 50: a stack is composed by itself, or hands its opacity down")
  func isolation() throws {
    let layers = "<layer src='a'/><layer src='a'/>"
    func alpha(_ stack: String, _ version: String = "0.0.6") throws -> UInt8 {
      var maker = ArchiveMaker(elements: "<stack \(stack)>\(layers)</stack>", attributes: "version='\(version)'")
      maker.add("a", pixel: [0, 0, 0, 255])
      return pixel(try render(maker), 1, 1)[3]
    }
    // One half of an opaque pair, against two halves, one over the other.
    #expect(try alpha("opacity='0.5'") == 128)
    #expect(try alpha("opacity='0.5' isolation='auto'") == 191)
    #expect(try alpha("opacity='0.5'", "0.0.5") == 128)
    #expect(try alpha("") == 255)
  }

  @Test("case 50: an offset of a stack moves nothing")
  func stackOffset() throws {
    var maker = ArchiveMaker(elements: "<stack x='2' y='2'><layer src='a'/></stack>")
    maker.add("a", width: 1, height: 1, pixel: [5, 5, 5, 255])
    #expect(pixel(try render(maker), 0, 0) == [5, 5, 5, 255])
  }

  @Test(
    "case 50: another operator is an error that names layer and operator",
    arguments: [
      ("<layer name='sun' src='a' composite-op='svg:multiply'/>", "layer \"sun\"", "svg:multiply"),
      ("<layer name='sun' src='a' composite-op='svg:dst-in' opacity='0'/>", "layer \"sun\"", "svg:dst-in"),
      ("<stack name='sky' composite-op='krita:glow'><layer src='a'/></stack>", "stack \"sky\"", "krita:glow"),
    ])
  func operators(elements: String, item: String, name: String) throws {
    var maker = ArchiveMaker(elements: elements)
    maker.add("a")
    let error = #expect(throws: CardError.self) { try render(maker) }
    #expect(
      error
        == .unsupportedOperator(file: directory.file("card.ora"), item: item, compositeOperator: name))
    #expect(directory.fileNames == ["card.ora"])
  }

  @Test("case 51: a failing layer gives an error, no output, and leaves an existing one as it was")
  func failingLayer() throws {
    var maker = ArchiveMaker(elements: "<layer name='top' src='data/bad.png'/><layer src='data/good.png'/>")
    maker.add("data/good.png")
    maker.add("data/bad.png")
    maker.entries[maker.entries.count - 1].bytes.removeLast(20)
    let error = #expect(throws: (any Error).self) { try render(maker) }
    #expect("\(try #require(error))".contains("card.ora: data/bad.png: the file ends early"))
    #expect(directory.fileNames == ["card.ora"])
    writeFile(directory.file("out.png"), [1, 2, 3])
    #expect(throws: (any Error).self) { try render(maker) }
    #expect(readFile(directory.file("out.png")) == [1, 2, 3])
    #expect(directory.fileNames == ["card.ora", "out.png"])
    #expect(pool.statistics.ready == 0 && pool.statistics.reserved == 0)
  }

  @Test("case 51: a layer without its picture is an error")
  func missingPicture() {
    #expect(throws: CardError.missingEntry(file: directory.file("card.ora"), entry: "data/none.png")) {
      try render(ArchiveMaker(elements: "<layer src='data/none.png'/>"))
    }
  }

  @Test("case 49: a layer larger than the whole budget renders, and the peak holds")
  func layerLargerThanTheBudget() throws {
    var maker = ArchiveMaker(stack: "<image w='1' h='900' version='0.0.6'><stack><layer src='a'/></stack></image>")
    maker.add("a", width: 600, height: 900)
    #expect(try render(maker).count == 4 * 900)
    #expect(4 * 600 * 900 > 2 << 20 && pool.statistics.peak < 128 << 10)
  }

  @Test("case 46: a picture that says it is huge is refused before anything of it is decoded")
  func hugePicture() throws {
    var maker = ArchiveMaker(elements: "<layer src='a'/>")
    maker.add("a")
    // The header's sides, and the checksum of the header.
    maker.change("a") { $0.bytes.replaceSubrange(16..<24, with: [0, 1, 0x86, 0xa0, 0, 1, 0x86, 0xa0]) }
    maker.change("a") { entry in
      let checksum = checksum(entry.bytes[12..<29])
      entry.bytes.replaceSubrange(29..<33, with: (0..<4).map { UInt8(truncatingIfNeeded: checksum >> (24 - 8 * $0)) })
    }
    let error = #expect(throws: PictureError.self) { try render(maker) }
    #expect(
      error
        == .tooLarge(file: directory.file("card.ora") + ": a", width: 100_000, height: 100_000, limit: 65_535))
    #expect(pool.statistics.generations == 0)
  }

  @Test func aBudgetWithoutRoomForARowSaysHowMuchIsNeeded() throws {
    var maker = ArchiveMaker(stack: "<image w='60000' h='1'><stack><layer src='a'/><layer src='a'/></stack></image>")
    maker.add("a", width: 450, height: 450)
    let path = directory.file("card.ora")
    maker.write(to: path)
    let file = try OpenRasterFile(BytePath(path))
    let error = #expect(throws: CardError.self) { try Rendering(file, budget: 100_000) }
    guard case .budgetTooSmall(_, let needed, let budget) = error else {
      Issue.record("\(String(describing: error)) instead of budgetTooSmall")
      return
    }
    #expect(budget == 100_000 && needed > 8 * 60_000)
    #expect(throws: try #require(error)) { try file.forecast(budget: budget) }
    #expect(throws: CardError.self) { try Rendering(file, budget: needed - 1) }
    let rendered = try Rendering(file, budget: needed)
    #expect(rendered.account.pool.peak <= needed)
    #expect(rendered.bytes == (try Rendering(file, budget: 8 << 20)).bytes)
  }
}
