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
    try document.write(to: BytePath(path), in: pool) { layerPixels($0, failing: failing) }
  }

  private func layerPixels(_ layer: CardLayer, failing: Bool = false) -> LayerPixels {
    struct OutOfPaint: Error {}
    let chunk = BufferChunk(in: pool, label: layer.name, size: 4 * 300 * 200) { bytes in
      if failing { throw OutOfPaint() }
      for index in 0..<4 * 300 * 200 {
        bytes.storeBytes(of: UInt8(truncatingIfNeeded: index &* 31 >> 3), toByteOffset: index, as: UInt8.self)
      }
    }
    return LayerPixels(width: 300, height: 200, chunk: chunk)
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

  @Test func pngFilesGoIntoADocumentAsTheyAre() throws {
    let (first, second, png) = (directory.file("1.ora"), directory.file("2.ora"), directory.file("a.png"))
    try write(to: first)
    // Both layers have the same pixels.
    let hidden = CardLayer(name: "", source: "data/a.png")
    let single = CardDocument(
      width: 300, height: 200, items: [.stackStart(CardStack(name: "")), .layer(hidden), .stackEnd(start: 0)])
    try single.write(to: BytePath(second), in: pool) { _ in layerPixels(hidden) }
    _ = try OpenRasterFile(BytePath(second)).render(to: BytePath(png), in: pool)
    try document.write(to: BytePath(second), in: pool) { _ in BufferedSource(try FileSource(BytePath(png))) }
    let pictures = try [first, second].map { path in
      _ = try OpenRasterFile(BytePath(path)).render(to: BytePath(path + ".png"), in: pool)
      return try #require(readFile(path + ".png"))
    }
    #expect(pictures[0] == pictures[1])
    let (file, written) = (try #require(readFile(png)), try #require(readFile(second)))
    // The first picture comes behind `stack.xml`.
    let start = try #require(written.firstRange(of: file.prefix(64))?.lowerBound)
    #expect(written[start...].starts(with: file))
  }

  @Test func aFileThatIsNoPNGIsRefused() throws {
    let (text, path) = (directory.file("text"), directory.file("card.ora"))
    writeFile(text, Array(repeating: UInt8(ascii: "n"), count: 100))
    #expect(throws: PictureError.notPNG(file: "\(path): data/b.png")) {
      try document.write(to: BytePath(path), in: pool) { _ in BufferedSource(try FileSource(BytePath(text))) }
    }
    #expect(directory.fileNames == ["text"])
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
