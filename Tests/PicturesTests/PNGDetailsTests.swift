import MemChunks
import Pictures
import TestSupport
import Testing

/// Which way up PNG files are, and what else is said beside their pixels.
@Suite struct PNGDetailsTests {
  private let png = PNGMaker(width: 30, height: 20, depth: 16, colorType: .truecolor, isInterlaced: true)
    .encode((0..<30 * 20 * 3).map { UInt16($0 * 100 % 65_536) })

  private func picture(_ file: [UInt8]) throws -> Picture {
    try Picture { BytesSource(file, name: "picture") }
  }

  private func pixels(_ chunk: PictureChunk) throws -> [UInt8] {
    var pixels: [UInt8] = []
    try chunk.forEachRow { pixels += $0 }
    return pixels
  }

  @Test(arguments: 1...8 as ClosedRange<UInt16>, [false, true])
  func pngFilesAreTurnedAsTheirEXIFDataSay(value: UInt16, isBig: Bool) throws {
    let exif = PNGPieces.chunk("eXIf", Array(JPEGPieces.exif(value, isBig: isBig).dropFirst(10)))
    // Behind the header, and a second one that is not looked at.
    let second = PNGPieces.chunk("eXIf", Array(JPEGPieces.exif(value % 8 + 1).dropFirst(10)))
    let turned = try picture(Array(png[..<33]) + exif + second + Array(png[33...]))
    #expect(turned.orientation.rawValue == UInt8(value))
    let pool = ChunkPool(budget: .megabytes(2))
    let chunk = try PictureChunk(turned, in: pool)
    let upright = try pixels(PictureChunk(picture(png), in: pool))
    let pixels = try pixels(chunk)
    for y in 0..<turned.height {
      for x in 0..<turned.width {
        // Where the pixel is stored (EXIF 2.32, 4.6.4): what is row and column from which sides.
        let (right, down) = (turned.width - 1 - x, turned.height - 1 - y)
        let (column, row) =
          [(x, y), (right, y), (right, down), (x, down), (y, x), (y, right), (down, right), (down, x)][Int(value) - 1]
        let (here, there) = (4 * (y * turned.width + x), 4 * (row * 30 + column))
        guard pixels[here..<here + 4].elementsEqual(upright[there..<there + 4]) else {
          Issue.record("pixel \(x), \(y)")
          return
        }
      }
    }
  }

  @Test func exifDataOfPNGFilesThatMakeNoSenseAreNoError() throws {
    let whole = Array(JPEGPieces.exif(6).dropFirst(10))
    for count in 0..<whole.count - 12 {
      let exif = PNGPieces.chunk("eXIf", Array(whole[..<count]))
      #expect(try picture(Array(png[..<33]) + exif + Array(png[33...])).orientation == .upright, "\(count)")
    }
    var far = whole
    far.replaceSubrange(4..<8, with: [0x7f, 0xff, 0xff, 0xff])
    #expect(try picture(Array(png[..<33]) + PNGPieces.chunk("eXIf", far) + Array(png[33...])).orientation == .upright)
  }

  @Test func exifDataBehindThePixelsCountWhereNoneStandBeforeThem() throws {
    let exif = PNGPieces.chunk("eXIf", Array(JPEGPieces.exif(6).dropFirst(10)))
    let other = PNGPieces.chunk("eXIf", Array(JPEGPieces.exif(3).dropFirst(10)))
    let text = PNGPieces.chunk("tEXt", Array(repeating: 65, count: 300))
    let pixels = PNGPieces.pixels(PNGPieces.stored(Array(repeating: 0, count: 2_001)), inChunksOf: 7)
    let start = PNGPieces.start(width: 500, height: 1)
    // As ImageMagick writes them.
    let turned = try picture(start + pixels + text + exif + other + PNGPieces.end)
    #expect(turned.orientation == .needsQuarterRight && turned.width == 1 && turned.height == 500)
    #expect(try self.pixels(PictureChunk(turned, in: ChunkPool(budget: .megabytes(1)))).count == 2_000)
    #expect(try picture(start + other + pixels + exif + PNGPieces.end).orientation == .halfTurned)
    // Where the file ends before them, or is no longer one, that is for whoever decodes it to say.
    #expect(try picture(start + pixels).orientation == .upright)
    #expect(try picture(start + pixels + Array(repeating: 0, count: 50) + exif).orientation == .upright)
    #expect(try picture(start + pixels + PNGPieces.end + exif).orientation == .upright)
  }

  @Test func aWrongChecksumBesideThePixelsIsNoError() throws {
    let pixels = PNGPieces.pixels(PNGPieces.stored([0, 100, 150, 200, 255]))
    for name in ["gAMA", "tEXt", "eXIf"] {
      var note = PNGPieces.chunk(name, [0, 1, 0x86, 0xa0])
      note[note.count - 1] ^= 1
      let picture = try picture(PNGPieces.start(width: 1, height: 1) + note + pixels + PNGPieces.end)
      let chunk = try PictureChunk(picture, in: ChunkPool(budget: .megabytes(1)))
      #expect(try self.pixels(chunk) == [100, 150, 200, 255], "\(name)")
    }
  }
}
