import Cards
import MemChunks
import Pictures
import TestSupport
import Testing

/// What users of other programs ran into with many layers, and what must be true instead.
@Suite struct ManyLayersTests {
  let directory = TemporaryDirectory()

  private func open(_ maker: ArchiveMaker, _ name: String = "card.ora") throws -> OpenRasterFile {
    let path = directory.file(name)
    maker.write(to: path)
    return try OpenRasterFile(BytePath(path))
  }

  /// A document of so many pictures of 20 x 20, ten in a row, that share one file.
  private func makeTiles(_ count: Int) throws -> OpenRasterFile {
    let height = (count + 9) / 10 * 20
    var maker = ArchiveMaker(
      stack: "<image w='200' h='\(height)' version='0.0.6'><stack>"
        + (0..<count).map { "<layer src='a' x='\($0 % 10 * 20)' y='\($0 / 10 * 20)'/>" }.joined()
        + "</stack></image>")
    maker.add("a", width: 20, height: 20, pixel: [4, 5, 6, 255])
    return try open(maker)
  }

  @Test("hundreds of small pictures on a large canvas take the memory of those in one row of it")
  func smallPictures() throws {
    let rendered = try Rendering(makeTiles(600), budget: 4 << 20)
    #expect(rendered.account.bandCount == 1 && rendered.account.pool.generations == 601)
    #expect(try rendered.pixels.allSatisfy { $0 >= 4 })
  }

  @Test("the peak does not grow with the number of layers below each other")
  func flatPeak() throws {
    let few = try makeTiles(50).forecast(budget: 8 << 20)
    let many = try makeTiles(2_500).forecast(budget: 8 << 20)
    #expect(few.peakByteCount == many.peakByteCount)
    let options = RenderOptions(threads: 1)
    let peaks = try [100, 250].map { count in
      let file = try makeTiles(count)
      let pool = ChunkPool(budget: .megabytes(8))
      return try file.render(to: BytesSink(), in: pool, options: options).pool.peak
    }
    #expect(peaks[0] == peaks[1])
  }

  @Test("2 000 layers in 500 nested groups take no stack, and time in proportion")
  func nestedGroups() throws {
    var elements = ""
    for _ in 0..<500 { elements += "<stack opacity='0.99'><layer src='a'/><layer src='a'/>" }
    for _ in 0..<500 { elements += "<layer src='a'/><layer src='a'/></stack>" }
    var maker = ArchiveMaker(elements: elements)
    maker.add("a", pixel: [7, 8, 9, 40])
    let file = try open(maker)
    let forecast = try file.forecast(budget: 10 << 20)
    #expect(forecast.layerCount == 2_000 && forecast.operators["svg:src-over"] == 2_500)
    let first = try Rendering(file, budget: 10 << 20)
    #expect(first.account.drawnLayerCount == 2_000)
    #expect(first.bytes == (try Rendering(file, budget: 500 << 10, threads: 8)).bytes)
  }

  @Test func tenThousandLayersAreComposed() throws {
    var maker = ArchiveMaker(
      stack: "<image w='4' h='4' version='0.0.6'><stack>" + String(repeating: "<layer src='a'/>", count: 10_000)
        + "</stack></image>")
    maker.add("a", pixel: [100, 150, 200, 1])
    let file = try open(maker)
    let rendered = try Rendering(file, budget: 2 << 20)
    #expect(rendered.account.drawnLayerCount == 10_000)
    #expect(try rendered.pixels == Array(repeating: [100, 150, 200, 255], count: 16).flatMap { $0 })
  }

  @Test("119 pictures under 4 MB: a failure names the picture, counters return to 0, and there is no output")
  func failure() throws {
    var maker = ArchiveMaker(
      stack: "<image w='64' h='64' version='0.0.6'><stack>"
        + (0..<119).map { "<layer src='\($0)' opacity='0.5'/>" }.joined() + "</stack></image>")
    for index in 0..<119 { maker.add("\(index)", width: 64, height: 64, pixel: [UInt8(index), 1, 2, 200]) }
    let whole = try Rendering(open(maker), budget: 4 << 20)
    #expect(whole.account.pool.peak <= 4 << 20)
    // A byte of its pixels, which the checksum of their chunk finds.
    maker.change("77") { $0.bytes[$0.bytes.count - 20] ^= 1 }
    let file = try open(maker)
    let pool = ChunkPool(budget: .megabytes(4))
    let output = directory.file("out.png")
    let error = #expect(throws: PictureError.self) { try file.render(to: BytePath(output), in: pool) }
    #expect("\(String(describing: error))".contains("card.ora: 77"))
    #expect(directory.fileNames == ["card.ora"])
    let left = pool.statistics
    #expect(left.used == 0 && left.reserved == 0 && left.pinned == 0)
    let refusal = #expect(throws: CardError.self) { try Rendering(file, budget: 50_000) }
    #expect("\(String(describing: refusal))".contains("50000"))
  }

  @Test("after each of 100 renderings the pool holds what it held after the first")
  func again() throws {
    let file = try makeTiles(40)
    let pool = ChunkPool(budget: .megabytes(2))
    let (first, sink) = (BytesSink(), { BytesSink() })
    _ = try file.render(to: first, in: pool)
    let held = pool.statistics.used
    for _ in 0..<100 {
      let next = sink()
      _ = try file.render(to: next, in: pool)
      #expect(next.bytes == first.bytes && pool.statistics.used == held)
    }
    #expect(held == 0)
  }

  @Test("pins that leave no room are a refusal with a reason, for the rows as for the layers", arguments: [0, 60_000])
  func pins(room: Int) throws {
    let file = try makeTiles(40)
    let least = try file.forecast(budget: 1 << 20).leastBudget
    let pool = ChunkPool(budget: .bytes(least + 100_000))
    let pinned = BufferChunk(in: pool, label: "pinned", size: least + 90_000 - room) { _ in }
    try pinned.withBytes { _ in
      let error = #expect(throws: ChunkError.self) { try file.render(to: BytesSink(), in: pool) }
      guard case .noRoom(let numbers) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(numbers.pinned >= least + 90_000 - room && numbers.holders.contains("pinned"))
    }
    #expect(pool.statistics.pinned == 0)
    _ = try file.render(to: BytesSink(), in: pool)
  }

  @Test("rows that no layer reaches are not composed, and the picture is whole")
  func emptyRows() throws {
    var maker = ArchiveMaker(
      stack: "<image w='30' h='5000' version='0.0.6'><stack>"
        + "<layer src='a' y='7'/><layer src='a' y='4990' x='10'/></stack></image>")
    maker.add("a", width: 10, height: 5, pixel: [1, 2, 3, 255])
    let rendered = try Rendering(open(maker), budget: 200 << 10)
    #expect(rendered.account.bandCount == 1 && rendered.account.pool.generations == 3)
    let pixels = try rendered.pixels
    let covered = pixels.indices.filter { pixels[$0] != 0 }
    #expect(covered.count == 2 * 4 * 50)
    #expect(covered.first == 4 * 30 * 7 && covered.last == 4 * (30 * 4_994 + 20) - 1)
  }

  @Test func aDocumentWithoutLayersIsTransparent() throws {
    let rendered = try Rendering(open(ArchiveMaker(elements: "")), budget: 10_000)
    #expect(try rendered.pixels == Array(repeating: 0, count: 64))
  }
}
