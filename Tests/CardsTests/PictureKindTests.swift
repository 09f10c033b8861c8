import Cards
import MemChunks
import Pictures
import TestSupport
import Testing

/// Layers of every kind of PNG, and of every way in which an archive holds them.
@Suite struct PictureKindTests {
  let directory = TemporaryDirectory()

  private enum Kind: CaseIterable {
    case color8, color16, gray1, indexed4, interlaced

    /// A picture of 60 x 40, and its pixels.
    func make(_ random: inout SeededGenerator) throws -> (file: [UInt8], pixels: [UInt8]) {
      let (depth, type, channels) =
        switch self {
        case .color8, .interlaced: (8, 6, 4)
        case .color16: (16, 6, 4)
        case .gray1: (1, 0, 1)
        case .indexed4: (4, 3, 1)
        }
      let rowByteCount = (60 * channels * depth + 7) / 8
      let rows = (0..<40 * rowByteCount).map { _ in UInt8.random(in: 0...255, using: &random) }
      let file = encodePNG(
        width: 60, height: 40, depth: depth, colorType: type, isInterlaced: self == .interlaced,
        palette: self == .indexed4 ? (0..<16).map { [$0, 255 - $0, 9] } : [], rows: rows)
      // All 16 bits count where the file has them, so what 8 of them show is not enough to compare with.
      return (file, try decode(BytesSource(file)).pixels)
    }
  }

  @Test func allKindsComposeAlikeAtEveryBudgetStoredAndDeflated() throws {
    var random = SeededGenerator(seed: 11)
    var maker = ArchiveMaker()
    var pictures: [String: (width: Int, height: Int, pixels: [UInt8])] = [:]
    var items: [CardDocument.Item] = [.stackStart(CardStack(name: "root"))]
    var elements = ""
    for (index, kind) in (Kind.allCases + Kind.allCases).enumerated() {
      let name = "\(index).png"
      let picture = try kind.make(&random)
      pictures[name] = (60, 40, picture.pixels)
      maker.add(name, picture.file)
      let layer = CardLayer(name: "", source: name, x: 3 * index, y: 4 * index - 20, blend: CardBlend(opacity: 0.75))
      items.append(.layer(layer))
      elements += "<layer src='\(name)' x='\(layer.x)' y='\(layer.y)' opacity='0.75'/>"
    }
    items.append(.stackEnd(start: 0))
    let stack = "<image w='70' h='50' version='0.0.6'><stack>\(elements)</stack></image>"
    maker.entries.insert(.init(name: "stack.xml", bytes: Array(stack.utf8)), at: 1)
    let reference = ReferenceComposition(
      document: CardDocument(width: 70, height: 50, items: items), pictures: pictures)
    var first: [UInt8]?
    for isDeflated in [false, true] {
      if isDeflated { maker.deflate() }
      let path = directory.file("kinds.ora")
      maker.write(to: path)
      let file = try OpenRasterFile(BytePath(path))
      let least = try file.forecast(budget: 1 << 30, options: RenderOptions(threads: 1)).leastBudget
      for (budget, threads) in [(least, 1), (least + 50_000, 2), (600 << 10, 8), (4 << 20, 1), (4 << 20, 8)] {
        let forecast = try file.forecast(budget: budget, options: RenderOptions(threads: threads))
        let rendered = try Rendering(file, budget: budget, threads: threads)
        #expect(rendered.bytes == first ?? rendered.bytes)
        first = rendered.bytes
        let peak = rendered.account.pool.peak
        #expect(
          peak <= budget && abs(Double(forecast.peakByteCount - peak)) <= 0.15 * Double(peak), "\(forecast): \(peak)")
      }
    }
    // Half a step more for layers of 16 bits, whose pixels the reference has rounded to 8.
    #expect(reference.largestDifference(to: try decode(BytesSource(first!)).pixels) <= 1.5)
  }

  @Test("an interlaced layer larger than the budget composes as the same one that is not", arguments: [false, true])
  func interlacedLayersNeedNotFit(isDeflated: Bool) throws {
    var random = SeededGenerator(seed: 12)
    // Few colours, so that there is little to decompress.
    let rows = (0..<700 * 700 * 4).map { _ in UInt8.random(in: 0...3, using: &random) * 80 }
    let rendered = try [false, true].map { isInterlaced in
      var maker = ArchiveMaker(
        stack: "<image w='700' h='700' version='0.0.6'><stack><layer src='a' opacity='0.5'/></stack></image>")
      maker.add(
        "a", encodePNG(width: 700, height: 700, depth: 8, colorType: 6, isInterlaced: isInterlaced, rows: rows))
      if isDeflated { maker.deflate() }
      let path = directory.file("\(isInterlaced).ora")
      maker.write(to: path)
      let file = try OpenRasterFile(BytePath(path))
      let budget = try file.forecast(budget: 1 << 30, options: RenderOptions(threads: 1)).leastBudget
      #expect(budget < 4 * 700 * 700 * 2 / 3)
      let rendered = try Rendering(file, budget: budget, threads: 1)
      #expect(rendered.account.pool.peak <= budget)
      return rendered.bytes
    }
    let isSame = rendered[0] == rendered[1]
    #expect(isSame)
  }

  @Test func sixteenBitsAreNotCutToEightBeforeTheyAreBlended() throws {
    // A colour between two steps of 8 bits, in a thousand layers of little opacity: cut off, it would drift.
    let samples: [UInt16] = [32_896 - 100, 32_896 - 100, 32_896 - 100, 3_000]
    let rows = samples.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
    var maker = ArchiveMaker(
      stack: "<image w='1' h='1' version='0.0.6'><stack>"
        + String(repeating: "<layer src='a'/>", count: 1_000) + "</stack></image>")
    maker.add("a", encodePNG(width: 1, height: 1, depth: 16, colorType: 6, rows: rows))
    let path = directory.file("deep.ora")
    maker.write(to: path)
    let pixels = try Rendering(OpenRasterFile(BytePath(path)), budget: 1 << 20).pixels
    #expect(pixels == [128, 128, 128, 255])
  }
}
