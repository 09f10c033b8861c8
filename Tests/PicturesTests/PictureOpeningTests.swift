import JPEGReference
import MemChunks
import Pictures
import TestSupport
import Testing

/// Pictures of any kind, through the one way in.
@Suite struct PictureOpeningTests {
  private let png = PNGMaker(width: 30, height: 20, depth: 16, colorType: .truecolor, isInterlaced: true)
    .encode((0..<30 * 20 * 3).map { UInt16($0 * 100 % 65_536) })
  private let jpeg = JPEGMaker(width: 300, height: 200).encode()

  private func picture(_ file: [UInt8], limits: PictureLimits = PictureLimits()) throws -> Picture {
    try Picture(limits: limits) { BytesSource(file, name: "picture") }
  }

  private func pixels(_ chunk: PictureChunk) throws -> [UInt8] {
    var pixels: [UInt8] = []
    try chunk.forEachRow { pixels += $0 }
    return pixels
  }

  @Test func everythingIsToldBeforeAPixelIsDecoded() throws {
    let png = try picture(png)
    #expect(png.format == .png && png.width == 30 && png.height == 20 && png.bitDepth == 16 && !png.hasProfile)
    #expect(png.orientation == .upright && png.gamma == nil && !png.hasChromaticities)
    let turned = try picture(JPEGPieces.inserting(JPEGPieces.exif(6), into: jpeg))
    #expect(turned.format == .jpeg && turned.width == 200 && turned.height == 300 && turned.storedWidth == 300)
    #expect(turned.orientation == .needsQuarterRight && turned.bitDepth == 8)
    let webp = try picture(WebPMaker(width: 40, height: 30, quality: 80).encode())
    #expect(webp.format == .webp && webp.width == 40 && webp.height == 30)
    // A large one: the whole takes its pixels, rows a part of them, a small one less than rows at full size.
    let large = try picture(JPEGMaker(width: 2_000, height: 1_500).encode())
    #expect(large.wholeByteCount > 4 * 2_000 * 1_500 && large.rowByteCount < large.wholeByteCount / 10)
    #expect(large.byteCount(width: 250, height: 188) < large.wholeByteCount / 10)
  }

  @Test func gammaAndChromaticitiesAreReportedAndNotApplied() throws {
    let pixels = PNGPieces.pixels(PNGPieces.stored([0, 100, 150, 200, 255]))
    let start = PNGPieces.start(width: 1, height: 1)
    let notes = PNGPieces.chunk("gAMA", [0, 1, 0x86, 0xa0]) + PNGPieces.chunk("cHRM", Array(repeating: 0, count: 32))
    let picture = try picture(start + notes + pixels + PNGPieces.end)
    #expect(picture.gamma == 100_000 && picture.hasChromaticities)
    #expect(try self.pixels(PictureChunk(picture, in: ChunkPool(budget: .megabytes(1)))) == [100, 150, 200, 255])
  }

  @Test func sizesThatFitKeepTheProportionsAndAreNeverLarger() throws {
    let picture = try picture(jpeg)
    let sizes = [picture.size(fitting: 30, 30), picture.size(fitting: 256, 10), picture.size(fitting: 999, 999)]
    #expect(sizes.map(\.width) == [30, 15, 300] && sizes.map(\.height) == [20, 10, 200])
    #expect(picture.size(fitting: 1, 1) == (1, 1))
  }

  @Test func whatIsMadeSmallerWhileItIsDecodedStaysInItsPlace() throws {
    // An eighth of it is 128.125 pixels: what is decoded of the last block lies beyond the edge for the most part.
    let maker = JPEGMaker(width: 1_025, height: 515, quality: 95)
    var samples: [UInt8] = []
    for y in 0..<maker.height {
      for x in 0..<maker.width {
        samples += [x, y, 0].map { UInt8(clamping: abs($0 * 4 % 512 - 256)) }
      }
    }
    let pool = ChunkPool(budget: .megabytes(8))
    let picture = try picture(maker.encode(samples))
    let whole = try pixels(PictureChunk(picture, in: pool))
    for width in [40, 129] {
      let height = picture.size(fitting: width, width).height
      let small = try pixels(PictureChunk(picture, width: width, height: height, in: pool))
      let rows = ResampledRows(MemoryRows(whole, width: maker.width), width: width, height: height)
      var expected: [UInt8] = []
      while let row = try rows.nextRow() { expected += row }
      let difference = zip(small, expected).map { abs(Int($0) - Int($1)) }.max()
      #expect(small.count == expected.count && difference ?? 0 <= 10, "\(width): \(String(describing: difference))")
    }
  }

  @Test func whatFitsIsKeptWhatDoesNotComesInRowsWithTheSamePixels() throws {
    for orientation in [1, 2, 3, 6, 8] as [UInt16] {
      let picture = try picture(JPEGPieces.inserting(JPEGPieces.exif(orientation), into: jpeg))
      let (width, height) = (picture.width / 2, picture.height / 2)
      let large = ChunkPool(budget: .megabytes(8))
      let kept = try PictureChunk(picture, width: width, height: height, in: large)
      #expect(kept.way == .pixels && kept.pixels != nil && kept.width == width && kept.height == height)
      let expected = try pixels(kept)
      #expect(expected.count == 4 * width * height)
      let least = picture.byteCount(width: width, height: height) - 4 * width * height / 2
      let small = ChunkPool(budget: .bytes(least))
      let rows = try PictureChunk(picture, width: width, height: height, in: small)
      #expect(rows.way == .rows && rows.pixels == nil)
      #expect(try pixels(rows) == expected)
      #expect(small.statistics.peak <= least && small.statistics.peak > 0)
      let unkept = try PictureChunk(picture, width: width, height: height, in: large, keepsPixels: false)
      #expect(try unkept.way == .rows && pixels(unkept) == expected)
    }
  }

  @Test func aBudgetThatNothingFitsIsRefusedWithWhatIsNeeded() throws {
    let error = #expect(throws: PictureError.self) {
      try PictureChunk(picture(jpeg), in: ChunkPool(budget: .kilobytes(20)))
    }
    guard case .needsMemory("picture", let needed, 20_480) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    let pool = ChunkPool(budget: .bytes(needed))
    #expect(try pixels(PictureChunk(picture(jpeg), in: pool)) == readJPEG(jpeg))
  }

  @Test func otherFilesAreNamedAndSaidToBeNone() {
    #expect(throws: PictureError.notPicture(file: "picture")) { try picture(Array("GIF89a, a long time ago".utf8)) }
    #expect(throws: PictureError.notPicture(file: "picture")) { try picture([0x89]) }
    #expect(throws: PictureError.empty(file: "picture")) { try picture([]) }
    #expect(throws: PictureError.self) { try Picture.open("/nonexistent/a.jpg") }
  }

  @Test("case 46: a header of 100 000 x 100 000 is refused by its size")
  func hugeSides() {
    let start = PNGPieces.start(width: 100_000, height: 100_000)
    #expect(throws: PictureError.tooLarge(file: "picture", width: 100_000, height: 100_000, limit: 65_535)) {
      try picture(start)
    }
    #expect(throws: PictureError.self) { try picture(jpeg, limits: PictureLimits(side: 299)) }
  }

  @Test("report 7: a thousand bytes that claim 20000 x 20000 are refused by every format, within 8 MB")
  func hugeClaims() throws {
    var small = JPEGMaker(width: 16, height: 16).encode()
    let frame = try #require(small.indices.first { small[$0] == 0xff && small[$0 + 1] == 0xc0 })
    small.replaceSubrange(frame + 5..<frame + 9, with: [0x4e, 0x20, 0x4e, 0x20])
    var progressive = JPEGMaker(width: 16, height: 16)
    progressive.isProgressive = true
    var scans = progressive.encode()
    let second = try #require(scans.indices.first { scans[$0] == 0xff && scans[$0 + 1] == 0xc2 })
    scans.replaceSubrange(second + 5..<second + 9, with: [0x4e, 0x20, 0x4e, 0x20])
    let rows = PNGPieces.pixels(PNGPieces.stored(Array(repeating: 0, count: 500)))
    let plain = PNGPieces.start(width: 20_000, height: 20_000) + rows + PNGPieces.end
    let interlaced = PNGPieces.start(width: 20_000, height: 20_000, interlace: 1) + rows + PNGPieces.end
    var lossless = WebPMaker(width: 16, height: 16).encode()
    lossless.replaceSubrange(21..<25, with: [0xff, 0xff, 0xff, 0x0f])
    for file in [small, scans, plain, interlaced, lossless] {
      #expect(file.count < 3_000)
      let pool = ChunkPool(budget: .megabytes(8))
      #expect(throws: PictureError.self) {
        let chunk: PictureChunk
        do {
          chunk = try PictureChunk(picture(file), width: 256, height: 256, in: pool)
        } catch {
          throw error
        }
        do {
          _ = try pixels(chunk)
        } catch ChunkError.generationFailed(_, let cause) {
          throw cause
        }
      }
      #expect(pool.statistics.peak <= 8 << 20)
    }
  }

  @Test("report 8: a progressive picture is made small in a part of its own memory, within 2/255 of libjpeg")
  func progressive() throws {
    var maker = JPEGMaker(width: 1_600, height: 1_200)
    maker.isProgressive = true
    let file = maker.encode()
    let scale = JPEGScale(eighths: 1)
    let pool = ChunkPool(budget: .megabytes(2))
    let chunk = try PictureChunk(picture(file), width: 200, height: 150, in: pool)
    let difference = try largestDifference(pixels(chunk), JPEGReferencePicture(file, scale).pixels)
    #expect(try #require(difference) <= 2)
    #expect(pool.statistics.peak < 1_600 * 1_200)
  }

  @Test("few bytes that claim very many pixels take no time for those that are missing")
  func missingRows() throws {
    var small = JPEGMaker(width: 16, height: 16).encode()
    let frame = try #require(small.indices.first { small[$0] == 0xff && small[$0 + 1] == 0xc0 })
    small.replaceSubrange(frame + 5..<frame + 9, with: [0xea, 0x60, 0xea, 0x60])
    let pixels = PNGPieces.pixels(PNGPieces.stored(Array(repeating: 0, count: 500))) + PNGPieces.end
    let plain = PNGPieces.start(width: 60_000, height: 60_000) + pixels
    let interlaced = PNGPieces.start(width: 60_000, height: 60_000, interlace: 1) + pixels
    let reading = PictureReading(damage: .showWhatThereIs)
    for file in [small, plain, interlaced] {
      let picture = try picture(file)
      let rows = try picture.stored(reading: reading).open()
      while !rows.restIsMissing {
        let row = try #require(try rows.nextRow())
        #expect(row.count == 4 * rows.width)
      }
      #expect(try rows.nextRow()?.allSatisfy { $0 == 0 } == true && rows.warning != nil)
      // 3.6 billion pixels, of which this looks at none.
      let pool = ChunkPool(budget: .megabytes(8))
      let preview = try PictureChunk(picture, width: 64, height: 64, in: pool, reading: reading)
      var count = 0
      let warning = try preview.forEachRow { count += $0.count }
      #expect(warning != nil && count == 4 * 64 * 64)
    }
  }

  @Test("case 47: what there is of a cut file is shown on request, with a warning, by every format")
  func partial() throws {
    for (file, cut) in [
      (png, 200), (jpeg, jpeg.count / 2), (WebPMaker(width: 64, height: 64, quality: 80).encode(), 300),
    ] {
      let picture = try picture(Array(file[..<cut]))
      for keepsPixels in [true, false] {
        let pool = ChunkPool(budget: .megabytes(4))
        #expect(throws: (any Error).self) {
          try pixels(PictureChunk(picture, in: pool, keepsPixels: keepsPixels))
        }
        let reading = PictureReading(damage: .showWhatThereIs)
        let lenient = try PictureChunk(picture, in: pool, keepsPixels: keepsPixels, reading: reading)
        var count = 0
        let warning = try lenient.forEachRow { count += $0.count }
        #expect(warning != nil && count == 4 * picture.width * picture.height, "\(picture.format)")
      }
    }
  }
}
