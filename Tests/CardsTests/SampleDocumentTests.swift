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
    let path = BytePath(SampleFiles.path("ora/\(name).ora"))
    let file = try OpenRasterFile(path)
    let pool = ChunkPool(budget: .megabytes(10))
    let output = directory.file("out.png")
    let account = try file.render(to: BytePath(output), in: pool)
    #expect(account.pool.peak <= 10 << 20)
    let merged = try self.merged(file)
    let own = try readPNG(output).pixels
    #expect(own.count == merged.count)
    #expect(largestDifference(own, merged) <= 2.000_001)
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
    var maker = ArchiveMaker(elements: "<layer src='data/\(name).png'/>")
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
