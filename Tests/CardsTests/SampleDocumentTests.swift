import Cards
import MemChunks
import Pictures
import TestSupport
import Testing

/// Documents that other programs wrote; skipped where the samples are not there.
@Suite(.enabled(if: SampleFiles.areThere, "the sample files are not beside the package")) struct SampleDocumentTests {
  let directory = TemporaryDirectory()

  @Test(arguments: ["layered_output", "lsr_output", "oraScreen", "kimageformats", "map_1"])
  func isWithin2StepsOfTheWritersOwnPicture(name: String) throws {
    let file = try OpenRasterFile(BytePath(SampleFiles.path("ora/\(name).ora")))
    let rendered = try Rendering(file, budget: 10 << 20)
    #expect(rendered.account.pool.peak <= 10 << 20)
    let merged = try self.merged(file)
    let own = try rendered.pixels
    #expect(own.count == merged.count)
    #expect(largestDifference(own, merged) <= 2.000_001)
  }

  @Test("documents of other writers render, whatever the blend space of their own picture")
  func otherDocuments() throws {
    for name in ["layered_image", "pandaAngry", "pandaBih", "pandaGbr", "pandaHammer"] {
      let file = try OpenRasterFile(BytePath(SampleFiles.path("ora/\(name).ora")))
      let forecast = try file.forecast(budget: 10 << 20)
      let rendered = try Rendering(file, budget: 10 << 20)
      #expect(rendered.account.drawnLayerCount == forecast.drawnLayerCount && forecast.drawnLayerCount > 0)
      #expect(try rendered.pixels.contains { $0 != 0 })
    }
  }

  @Test(arguments: ["layermodes", "layerops"])
  func documentsWithOtherOperatorsAreRefusedByName(name: String) throws {
    let file = try OpenRasterFile(BytePath(SampleFiles.path("ora/\(name).ora")))
    #expect(try file.forecast(budget: 10 << 20).operators["svg:multiply", default: 0] > 0)
    let error = #expect(throws: CardError.self) { try Rendering(file, budget: 10 << 20) }
    guard case .unsupportedOperator = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test("144 MB of layers come to the same bytes at 4, 10 and 200 MB, with 1, 2 and 8 threads")
  func bigDocument() throws {
    let file = try OpenRasterFile(BytePath(SampleFiles.path("ora/bigimage.ora")))
    let runs = [(4, 1), (4, 8), (10, 2), (200, 1), (200, 8)]
    var first: [UInt8]?
    for (megabytes, threads) in runs {
      let forecast = try file.forecast(budget: megabytes << 20, options: RenderOptions(threads: threads))
      let rendered = try Rendering(file, budget: megabytes << 20, threads: threads)
      #expect(rendered.bytes == first ?? rendered.bytes)
      first = rendered.bytes
      let peak = rendered.account.pool.peak
      #expect(peak <= megabytes << 20)
      #expect(abs(Double(forecast.peakByteCount - peak)) <= 0.15 * Double(peak), "\(forecast), \(peak)")
      // Each decoder once, and the rows of the canvas.
      #expect(rendered.account.bandCount == 1 && rendered.account.pool.generations == 17)
    }
  }

  /// The picture that the writer of the document made of it, straight RGBA.
  private func merged(_ file: OpenRasterFile) throws -> [UInt8] {
    let layer = CardLayer(name: "merged", source: "mergedimage.png")
    let pool = ChunkPool(budget: .megabytes(10))
    let chunk = try file.pixels(of: layer, header: file.header(of: layer), in: pool)
    return try chunk.withBytes { bytes in
      bytes.withUnsafeBytes { Array($0.prefix(try! file.header(of: layer).rgbaByteCount)) }
    }
  }

  /// In steps of 1/255, by alpha and alpha-multiplied colour.
  private func largestDifference(_ first: [UInt8], _ second: [UInt8]) -> Double {
    first.indices.reduce(0) { most, index in
      let alpha = index | 3
      func value(_ pixels: [UInt8]) -> Double {
        index == alpha ? Double(pixels[index]) : Double(pixels[index]) * Double(pixels[alpha]) / 255
      }
      return max(most, abs(value(first) - value(second)))
    }
  }

  @Test(arguments: ["broken", "truncated_image", "xcrn0g04", "xd0n2c08", "xdtn0g01", "xhdn0g08", "xs1n0g01"])
  func aCorruptPictureLeavesNoOutput(name: String) throws {
    // A canvas that the whole picture is on: rows that are not, nobody reads.
    var maker = ArchiveMaker(
      stack: "<image w='1024' h='1024' version='0.0.6'><stack><layer src='data/\(name).png'/></stack></image>")
    maker.add("data/\(name).png", try #require(readFile(SampleFiles.path("corrupt/\(name).png"))))
    let path = directory.file("card.ora")
    maker.write(to: path)
    let output = directory.file("out.png")
    for existing: [UInt8]? in [nil, [1, 2, 3]] {
      if let existing { writeFile(output, existing) }
      let pool = ChunkPool(budget: .megabytes(10))
      let error = #expect(throws: (any Error).self) {
        try OpenRasterFile(BytePath(path)).render(to: BytePath(output), in: pool)
      }
      #expect("\(try #require(error))".contains("card.ora: data/\(name).png: "))
      #expect(readFile(output) == existing)
      #expect(directory.fileNames == ["card.ora"] + (existing == nil ? [] : ["out.png"]))
    }
  }
}
