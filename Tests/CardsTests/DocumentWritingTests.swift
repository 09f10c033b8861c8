import Cards
import MemChunks
import Pictures
import TestSupport
import Testing

@Suite struct DocumentWritingTests {
  let directory = TemporaryDirectory()
  let pool = ChunkPool(budget: .megabytes(2))

  private let document = CardDocument(
    width: 300, height: 200,
    items: [
      .stackStart(CardStack(name: "root")),
      .layer(CardLayer(name: "\"a\" & <b>\n\t", source: "data/a.png", x: -5, y: 7)),
      .stackStart(CardStack(name: "in", blend: CardBlend(opacity: 0.5), isolation: .passThrough)),
      .layer(CardLayer(name: "hidden", source: "data/b.png", blend: CardBlend(opacity: 0.125, isVisible: false))),
      .layer(CardLayer(name: "shown", source: "data/b.png", blend: CardBlend(opacity: 0.75))),
      .stackEnd(start: 2),
      .stackEnd(start: 0),
    ])

  private func write(to path: String, failing: Bool = false) throws {
    struct OutOfPaint: Error {}
    let pool = pool
    try document.write(to: BytePath(path), in: pool) { layer in
      let chunk = BufferChunk(in: pool, label: layer.name, size: 4 * 300 * 200) { bytes in
        if failing { throw OutOfPaint() }
        for index in 0..<4 * 300 * 200 {
          bytes.storeBytes(of: UInt8(truncatingIfNeeded: index &* 31 >> 3), toByteOffset: index, as: UInt8.self)
        }
      }
      return LayerPixels(width: 300, height: 200, chunk: chunk)
    }
  }

  @Test func whatIsWrittenIsReadBack() throws {
    let path = directory.file("card.ora")
    try write(to: path)
    let file = try OpenRasterFile(BytePath(path))
    #expect(file.document == document)
    let bytes = try #require(readFile(path))
    // The first entry's name and content stand in the open at the file's beginning.
    #expect(bytes[30..<38].elementsEqual("mimetype".utf8))
    #expect(bytes.prefix(100).split(separator: UInt8(ascii: "e")).count > 1)
    let thumbnail = try file.header(of: CardLayer(name: "", source: "Thumbnails/thumbnail.png"))
    #expect(thumbnail.width == 150 && thumbnail.height == 100)
    #expect(pool.statistics.peak <= 2 << 20)
  }

  @Test func theMergedPictureIsWhatRenderingGives() throws {
    let path = directory.file("card.ora")
    try write(to: path)
    let file = try OpenRasterFile(BytePath(path))
    _ = try file.render(to: BytePath(directory.file("out.png")), in: pool)
    let layer = CardLayer(name: "", source: "mergedimage.png")
    let merged = try file.pixels(of: layer, header: file.header(of: layer), in: pool)
    let rendered = try readPNG(directory.file("out.png")).pixels
    try merged.withBytes { bytes in
      bytes.withUnsafeBytes { #expect($0.prefix(rendered.count).elementsEqual(rendered)) }
    }
  }

  @Test func aFailingLayerLeavesTheOldDocument() throws {
    let path = directory.file("card.ora")
    try write(to: path)
    let old = readFile(path)
    #expect(throws: (any Error).self) { try write(to: path, failing: true) }
    #expect(readFile(path) == old)
    #expect(directory.fileNames == ["card.ora"])
  }
}
