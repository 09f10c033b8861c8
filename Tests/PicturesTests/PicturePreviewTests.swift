import JPEGReference
import MemChunks
import Pictures
import TestSupport
import Testing

/// Pictures for showing only: small ones of large ones, and compact forms.
@Suite struct PicturePreviewTests {
  private let file = JPEGPieces.inserting(JPEGPieces.exif(6), into: JPEGMaker(width: 400, height: 300).encode())

  private var picture: Picture {
    get throws { try Picture { [file] in BytesSource(file, name: "photo.jpg") } }
  }

  private func pixels(_ chunk: BufferChunk) throws -> [UInt8] {
    try chunk.withBytes { bytes in bytes.withUnsafeBytes { Array($0) } }
  }

  private func meanDifference(_ one: [UInt8], _ other: [UInt8]) -> Double {
    let sum = zip(one, other).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
    return one.count == other.count ? Double(sum) / Double(one.count) : .infinity
  }

  @Test func aSmallerOneIsMadeOfTheLargerWithoutDecodingAgain() throws {
    let pool = ChunkPool(budget: .megabytes(8))
    let large = try PictureChunk(picture, width: 150, height: 200, in: pool)
    let kept = try #require(large.pixels)
    let expected = try readRows(
      ResampledRows(MemoryRows(pixels(kept), width: 150), width: 30, height: 40, filter: .area))
    let generations = pool.statistics.generations
    let small = large.smaller(width: 30, height: 40, in: pool)
    #expect(try pixels(small) == expected)
    #expect(pool.statistics.generations == generations + 1, "only the smaller one was made")
  }

  @Test func theCompactFormIsSmallAndFeedsThePixels() throws {
    let pool = ChunkPool(budget: .megabytes(8))
    let preview = try PicturePreview(picture, width: 150, height: 200, in: pool)
    let shown = try pixels(preview.pixels)
    let exact = try pixels(#require(PictureChunk(picture, width: 150, height: 200, in: pool).pixels))
    #expect(meanDifference(shown, exact) < 6)
    let size = try preview.compact.withReady { $0.count }
    #expect(size <= PicturePreview.compactByteCount(width: 150, height: 200) && size < shown.count / 6)
    // Pixels that were freed come back from the compact form alone.
    let generations = pool.statistics.generations
    preview.pixels.invalidate()
    #expect(try pixels(preview.pixels) == shown)
    #expect(pool.statistics.generations == generations + 1)
    // It is upright, and says nothing of what the file says.
    let compact = try preview.compact.withReady { $0 }
    let header = try JPEGHeader(BytesSource(compact))
    #expect(header.width == 150 && header.height == 200 && header.orientation == .upright)
    #expect(!compact.indices.dropLast().contains { compact[$0] == 0xff && compact[$0 + 1] == 0xe1 })
  }

  @Test func noiseTakesNoMoreThanWasCounted() throws {
    var random = SeededGenerator(seed: 3)
    let maker = PNGMaker(width: 64, height: 64, depth: 8, colorType: .truecolor)
    let png = maker.encode((0..<64 * 64 * 3).map { _ in .random(in: 0...255, using: &random) })
    let pool = ChunkPool(budget: .megabytes(4))
    let preview = try PicturePreview(Picture { BytesSource(png) }, width: 64, height: 64, in: pool)
    let size = try preview.compact.withReady { $0.count }
    #expect(size <= PicturePreview.compactByteCount(width: 64, height: 64))
  }

  @Test func whatCanBeTransparentHasNoCompactForm() throws {
    let png = PNGMaker(width: 4, height: 4, depth: 8, colorType: .truecolorAlpha).encode(Array(repeating: 9, count: 64))
    #expect(throws: PictureError.self) {
      try PicturePreview(Picture { BytesSource(png) }, width: 2, height: 2, in: ChunkPool(budget: .megabytes(4)))
    }
  }
}
