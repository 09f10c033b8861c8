import Cards
import MemChunks
import Pictures
import TestSupport
import Testing

/// What a rendering says of other budgets is what renderings with them do.
@Suite struct OutlookTests {
  let directory = TemporaryDirectory()

  /// A document of so many pictures that each cover a part of the canvas, some of them beginning above it.
  private func makeDocument(layers count: Int, width: Int = 120, height: Int = 160) throws -> OpenRasterFile {
    var maker = ArchiveMaker(
      stack: "<image w='\(width)' h='\(height)' version='0.0.6'><stack>"
        + (0..<count).map { "<layer src='\($0).png' y='\(($0 % 5 - 1) * 20)' opacity='0.5'/>" }.joined()
        + "</stack></image>")
    for index in 0..<count {
      maker.add("\(index).png", width: width, height: height - index % 3 * 30, pixel: [UInt8(index), 2, 3, 128])
    }
    let path = directory.file("card.ora")
    maker.write(to: path)
    return try OpenRasterFile(BytePath(path))
  }

  private func render(_ file: OpenRasterFile, _ budget: Int, _ options: RenderOptions) throws -> RenderAccount {
    try file.render(to: BytesSink(), in: ChunkPool(budget: .bytes(budget)), options: options)
  }

  @Test("generations and bytes are those of renderings with the budgets told of", arguments: [1, 2, 5])
  func budgets(threads: Int) throws {
    let file = try makeDocument(layers: 20)
    var options = RenderOptions(threads: threads, compressionLevel: 1)
    options.measuresDecoding = true
    let least = try file.forecast(budget: 1 << 30, options: options).leastBudget
    for budget in [least, least + 50_000, 1 << 20, 8 << 20] {
      let outlooks = try file.outlooks(render(file, budget, options), options: options)
      #expect(outlooks.first?.budget == least && outlooks.count > 3)
      #expect(outlooks.contains { $0.bandCount > 1 } && outlooks.last?.bandCount == 1)
      // Half, the same and twice as much are said to the byte, whichever plans are left out for being like the one below.
      let some = stride(from: 0, to: outlooks.count, by: 9).map { outlooks[$0].budget }
      for budget in some + [budget / 2, budget, 2 * budget] where budget >= least {
        let outlook = try #require(outlooks.last { $0.budget <= budget })
        let account = try render(file, budget, options)
        #expect(outlook.bandCount == account.bandCount, "\(budget)")
        #expect(outlook.generationCount == account.pool.generations, "\(budget)")
        #expect(outlook.generatedByteCount == account.pool.bytesGenerated, "\(budget)")
        #expect(outlook.nanoseconds > 0)
      }
    }
  }

  @Test func theFirstBudgetWithoutBandsIsFoundToTheByte() throws {
    let file = try makeDocument(layers: 12)
    var options = RenderOptions(threads: 1, compressionLevel: 1)
    options.measuresDecoding = true
    let outlooks = try file.outlooks(render(file, 1 << 20, options), options: options)
    let enough = try #require(outlooks.first { $0.bandCount == 1 }).budget
    #expect(try render(file, enough, options).bandCount == 1)
    #expect(try render(file, enough - 1, options).bandCount > 1)
  }

  @Test func aBudgetFarAboveWhatIsNeededIsNoTrouble() throws {
    let file = try makeDocument(layers: 3)
    var options = RenderOptions(threads: 2, compressionLevel: 1)
    options.measuresDecoding = true
    let account = try file.render(to: BytesSink(), in: ChunkPool(budget: .bytes(.max)), options: options)
    let outlooks = try file.outlooks(account, options: options)
    #expect(outlooks.last?.generationCount == account.pool.generations)
    #expect(outlooks.count < 200)
  }

  @Test func nothingIsToldWhereNothingWasMeasured() throws {
    let (file, options) = (try makeDocument(layers: 2), RenderOptions(threads: 1))
    #expect(try file.outlooks(render(file, 1 << 20, options), options: options).isEmpty)
  }

  @Test func aRowCostsWhatTheRowsAboveItCost() {
    let times = LayerTimes(height: 64, .small)
    #expect(times.curve[10] == 0)
    times.noteOpening(100)
    times.noteOpening(300)
    times.noteSkip(of: 8, 80)
    for row in 8..<32 { times.note(row: row, 10) }
    // Rows that nobody has decoded are taken for the mean of those that somebody has.
    for row in 32..<48 { times.note(row: row, 40) }
    #expect(times.curve[0] == 200)
    #expect(times.curve[9] == 290)
    #expect(times.curve[40] == 840)
    #expect(times.curve[64] == 1_480)
  }
}
