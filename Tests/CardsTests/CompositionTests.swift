import Cards
import MemChunks
import Pictures
import TestSupport
import Testing

@Suite struct CompositionTests {
  let directory = TemporaryDirectory()

  /// A document of random pictures, offsets, opacities and nested stacks, and its reference.
  private func makeRandomDocument(seed: UInt64, layers: Int) -> (path: BytePath, reference: ReferenceComposition) {
    var random = SeededGenerator(seed: seed)
    var pictures: [String: (width: Int, height: Int, pixels: [UInt8])] = [:]
    var maker = ArchiveMaker()
    var items: [CardDocument.Item] = [.stackStart(CardStack(name: "root"))]
    var open = [0]
    for index in 0..<layers {
      if Int.random(in: 0..<3, using: &random) == 0 {
        let blend = CardBlend(
          opacity: [1, 0.5, 0.8].randomElement(using: &random)!,
          isVisible: Int.random(in: 0..<6, using: &random) > 0)
        open.append(items.count)
        items.append(.stackStart(CardStack(name: "s\(index)", blend: blend)))
      }
      let (width, height) = (Int.random(in: 1...40, using: &random), Int.random(in: 1...30, using: &random))
      let pixels = (0..<4 * width * height).map { _ in UInt8.random(in: 0...255, using: &random) }
      let source = "data/\(index).png"
      pictures[source] = (width, height, pixels)
      let rows = (0..<height).map { Array(pixels[4 * width * $0..<4 * width * ($0 + 1)]) }
      maker.add(source, makePNG(width: width, rows: rows))
      let blend = CardBlend(
        opacity: [1, 1, 0.3, 0.77, 0].randomElement(using: &random)!,
        isVisible: Int.random(in: 0..<8, using: &random) > 0)
      items.append(
        .layer(
          CardLayer(
            name: "l\(index)", source: source, x: .random(in: -45...40, using: &random),
            y: .random(in: -35...30, using: &random), blend: blend)))
      while open.count > 1, Int.random(in: 0..<3, using: &random) == 0 {
        items.append(.stackEnd(start: open.removeLast()))
      }
    }
    while let start = open.popLast() { items.append(.stackEnd(start: start)) }
    let document = CardDocument(width: 37, height: 29, items: items)
    maker.entries.insert(.init(name: "stack.xml", bytes: Array(document.text.utf8)), at: 1)
    let path = directory.file("random\(seed).ora")
    maker.write(to: path)
    return (BytePath(path), ReferenceComposition(document: document, pictures: pictures))
  }

  @Test("equals exact arithmetic to 1/255, and gives the same bytes for every budget", arguments: 1...12)
  func randomDocuments(seed: UInt64) throws {
    let (path, reference) = makeRandomDocument(seed: seed, layers: 4 + 2 * Int(seed))
    let file = try OpenRasterFile(path)
    #expect(file.document == reference.document)
    var outputs: [[UInt8]] = []
    for budget in [192, 256, 2_048] {
      let output = directory.file("out\(budget).png")
      let pool = ChunkPool(budget: .kilobytes(budget))
      let account = try file.render(to: BytePath(output), in: pool)
      #expect(account.pool.peak <= budget << 10)
      #expect(account.pool.reserved == 0)
      outputs.append(try #require(readFile(output)))
      #expect(reference.largestDifference(to: try readPNG(output).pixels) <= 1)
    }
    #expect(outputs[0] == outputs[1] && outputs[1] == outputs[2])
  }

  @Test func sixteenLayersSeveralTimesTheBudgetAreDecodedOnce() throws {
    var maker = ArchiveMaker(
      stack: "<image w='200' h='140' version='0.0.6'><stack>"
        + (0..<16).map { "<layer src='\($0).png' opacity='0.5'/>" }.joined() + "</stack></image>")
    for index in 0..<16 { maker.add("\(index).png", width: 200, height: 140, pixel: [UInt8(index), 2, 3, 128]) }
    let path = directory.file("card.ora")
    maker.write(to: path)
    // Layers of 112 KB, a decoder of 107 KB, a canvas of 224 KB.
    let pool = ChunkPool(budget: .kilobytes(480))
    let account = try OpenRasterFile(BytePath(path)).render(to: BytePath(directory.file("out.png")), in: pool)
    #expect(account.bandCount == 1)
    #expect(account.pool.generations == 17)
    #expect(account.pool.frees >= 14)
    #expect(account.pool.peak <= 480 << 10)
    #expect(account.drawnLayerCount == 16)
  }

  @Test func aCanvasLargerThanTheBudgetIsComposedInBands() throws {
    var maker = ArchiveMaker(stack: "<image w='200' h='140'><stack><layer src='a' y='135'/></stack></image>")
    maker.add("a", width: 10, height: 10)
    let path = directory.file("card.ora")
    maker.write(to: path)
    let pool = ChunkPool(budget: .kilobytes(220))
    let account = try OpenRasterFile(BytePath(path)).render(to: BytePath(directory.file("out.png")), in: pool)
    #expect(account.bandCount > 2)
    #expect(account.pool.peak <= 220 << 10)
    // The layer is decoded for the band that it is in only.
    #expect(account.pool.generations == account.bandCount + 1)
  }

  @Test func deepNestingCostsNeitherStackNorPlanes() throws {
    let depth = 4_000
    var maker = ArchiveMaker(
      elements: String(repeating: "<stack opacity='0.999'>", count: depth) + "<layer src='a'/>"
        + String(repeating: "</stack>", count: depth))
    maker.add("a", pixel: [255, 0, 0, 255])
    let path = directory.file("card.ora")
    maker.write(to: path)
    let pool = ChunkPool(budget: .kilobytes(192))
    _ = try OpenRasterFile(BytePath(path)).render(to: BytePath(directory.file("out.png")), in: pool)
    // 0.999 to the power of 4 000 is 0.0183, times 255 is 4.66.
    #expect(try readPNG(directory.file("out.png")).pixels[..<4] == [255, 0, 0, 5])
  }
}

extension CardDocument {
  /// The document as the tests' own writer puts it.
  fileprivate var text: String {
    func attributes(_ name: String, _ blend: CardBlend) -> String {
      "name='\(name)' opacity='\(blend.opacity)' visibility='\(blend.isVisible ? "visible" : "hidden")'"
    }
    let elements = items.map { item in
      switch item {
      case .layer(let layer):
        "<layer \(attributes(layer.name, layer.blend)) src='\(layer.source)' x='\(layer.x)' y='\(layer.y)'/>"
      case .stackStart(let stack): "<stack \(attributes(stack.name, stack.blend))>"
      case .stackEnd: "</stack>"
      }
    }
    return "<image w='\(width)' h='\(height)' version='0.0.6'>\(elements.joined())</image>"
  }
}
