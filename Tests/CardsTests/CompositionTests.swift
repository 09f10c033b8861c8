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

  @Test(
    "equals exact arithmetic to 1/255, and gives the same bytes for every budget and number of threads",
    arguments: 1...120)
  func randomDocuments(seed: UInt64) throws {
    let (path, reference) = makeRandomDocument(seed: seed, layers: 4 + 3 * Int(seed % 12))
    let file = try OpenRasterFile(path)
    #expect(file.document == reference.document)
    let least = try file.forecast(budget: 1 << 30, options: RenderOptions(threads: 1)).leastBudget
    let first = try Rendering(file, budget: 2 << 20, threads: 1)
    #expect(reference.largestDifference(to: try first.pixels) <= 1)
    for budget in [least, least + 3_000, 2 * least, 1 << 20, 8 << 20] {
      for threads in [1, 2, 8] {
        let rendered = try Rendering(file, budget: budget, threads: threads)
        #expect(rendered.bytes == first.bytes, "\(budget) bytes, \(threads) threads")
        let peak = rendered.account.pool.peak
        #expect(peak <= budget)
        // Also where it is all over in less time than a thread takes to start.
        let forecast = try file.forecast(budget: budget, options: RenderOptions(threads: threads))
        #expect(abs(Double(forecast.peakByteCount - peak)) <= 0.15 * Double(peak), "\(threads) threads, \(forecast)")
        #expect(rendered.account.pool.reserved == 0 && rendered.account.pool.pinned == 0)
      }
    }
  }

  /// A document of so many pictures of one size, one over the other.
  private func makePile(_ count: Int, width: Int, height: Int) throws -> OpenRasterFile {
    var maker = ArchiveMaker(
      stack: "<image w='\(width)' h='\(height)' version='0.0.6'><stack>"
        + (0..<count).map { "<layer src='\($0).png' opacity='0.5'/>" }.joined() + "</stack></image>")
    for index in 0..<count {
      maker.add("\(index).png", width: width, height: height, pixel: [UInt8(index), 2, 3, 128])
    }
    let path = directory.file("pile.ora")
    maker.write(to: path)
    return try OpenRasterFile(BytePath(path))
  }

  @Test func layersAdvanceTogetherAndEachIsDecodedOnce() throws {
    let file = try makePile(16, width: 200, height: 140)
    // 16 layers of 112 KB as pixels, in decoders of 43 KB each.
    let rendered = try Rendering(file, budget: 800 << 10)
    #expect(rendered.account.bandCount == 1 && rendered.account.drawnLayerCount == 16)
    #expect(rendered.account.pool.generations == 17)
  }

  @Test func layersThatDoNotFitTogetherAreDecodedOncePerBand() throws {
    let file = try makePile(16, width: 200, height: 140)
    let options = RenderOptions(threads: 2)
    let least = try file.forecast(budget: 1 << 30, options: options).leastBudget
    let whole = try Rendering(file, budget: 4 << 20)
    for extra in [0, 20_000, 60_000] {
      let forecast = try file.forecast(budget: least + extra, options: options)
      let rendered = try Rendering(file, budget: least + extra, threads: 2)
      #expect(forecast.bandCount > 1 && rendered.account.bandCount == forecast.bandCount)
      #expect(rendered.account.pool.generations == 1 + 16 * forecast.bandCount)
      #expect(rendered.bytes == whole.bytes)
    }
  }

  @Test("the forecast is within 15 % of what is counted", arguments: [1, 2, 8])
  func forecast(threads: Int) throws {
    let file = try makePile(24, width: 300, height: 60)
    let least = try file.forecast(budget: 1 << 30, options: RenderOptions(threads: threads)).leastBudget
    for budget in [least, least + 100_000, 1 << 20, 3 << 20, 8 << 20] {
      let forecast = try file.forecast(budget: budget, options: RenderOptions(threads: threads))
      let peak = try Rendering(file, budget: budget, threads: threads).account.pool.peak
      #expect(forecast.peakByteCount <= budget)
      #expect(abs(Double(forecast.peakByteCount - peak)) <= 0.15 * Double(peak), "\(forecast): \(peak)")
    }
    let forecast = try file.forecast(budget: 8 << 20)
    #expect(forecast.layerCount == 24 && forecast.rgbaByteCount == 24 * 4 * 300 * 60)
    #expect(forecast.operators == ["svg:src-over": 24])
  }

  @Test func deepNestingCostsNeitherStackNorPlanes() throws {
    let depth = 4_000
    var maker = ArchiveMaker(
      elements: String(repeating: "<stack opacity='0.999'>", count: depth) + "<layer src='a'/>"
        + String(repeating: "</stack>", count: depth))
    maker.add("a", pixel: [255, 0, 0, 255])
    let path = directory.file("card.ora")
    maker.write(to: path)
    let rendered = try Rendering(OpenRasterFile(BytePath(path)), budget: 192 << 10)
    // 0.999 to the power of 4 000 is 0.0183, times 255 is 4.66.
    #expect(try rendered.pixels[..<4] == [255, 0, 0, 5])
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
