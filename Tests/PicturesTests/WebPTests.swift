import MemChunks
import PictureReference
import Pictures
import TestSupport
import Testing

@Suite struct WebPTests {
  @Test("without loss, pixels and alphas are those that were encoded", arguments: [false, true])
  func lossless(hasAlpha: Bool) throws {
    let maker = WebPMaker(width: 61, height: 37, hasAlpha: hasAlpha)
    let file = maker.encode()
    let header = try WebPHeader(BytesSource(file))
    #expect(header.isLossless && header.hasAlpha == hasAlpha && header.width == 61 && header.height == 37)
    #expect(header.fileByteCount == file.count && header.orientation == .upright && header.profileByteCount == 0)
    #expect(try readWebP(file) == maker.pixels)
  }

  @Test("with loss, rows are those that libwebp makes of the whole file", arguments: [false, true])
  func lossy(hasAlpha: Bool) throws {
    let maker = WebPMaker(width: 75, height: 52, quality: 80, hasAlpha: hasAlpha)
    let file = maker.encode()
    #expect(try !WebPHeader(BytesSource(file)).isLossless && WebPHeader(BytesSource(file)).hasAlpha == hasAlpha)
    var (width, height) = (0 as Int32, 0 as Int32)
    let expected = taken(pref_webp_decode(file, file.count, &width, &height), 4 * 75 * 52)
    #expect(try readWebP(file) == expected)
    let worst = zip(expected, maker.pixels).map { abs(Int($0) - Int($1)) }.max() ?? 0
    #expect(worst < 60)
  }

  @Test("a smaller one is decoded at that size", arguments: [nil, 85] as [Float?])
  func scaled(quality: Float?) throws {
    let maker = WebPMaker(width: 160, height: 120, quality: quality)
    let source = BytesSource(maker.encode())
    let small = try readRows(WebPRows(source, header: WebPHeader(source), width: 20, height: 15))
    let rows = ResampledRows(MemoryRows(maker.pixels, width: 160), width: 20, height: 15, filter: .area)
    let expected = try readRows(rows)
    let worst = zip(small, expected).map { abs(Int($0) - Int($1)) }.max() ?? 255
    #expect(small.count == expected.count && worst < 12, "\(worst)")
  }

  @Test func aSmallerOneTakesLess() throws {
    let header = try WebPHeader(BytesSource(WebPMaker(width: 400, height: 300, quality: 80).encode()))
    let whole = WebPRows.byteCount(for: header, width: 400, height: 300)
    #expect(WebPRows.byteCount(for: header, width: 40, height: 30) < whole - 4 * 400 * 290)
  }

  @Test("orientation, profile and alpha stand in chunks before and behind the pixels", arguments: [true, false])
  func extended(isNamed: Bool) throws {
    let file = WebPMaker(width: 20, height: 10, quality: 80).encode()
    // The segment without its marker and length; the name is as in JPEG files or left out.
    let exif = Array(JPEGPieces.exif(6).dropFirst(isNamed ? 4 : 10))
    let whole = WebPMaker.extended(
      file, width: 20, height: 10, before: WebPMaker.chunk("ICCP", [1, 2, 3]),
      behind: WebPMaker.chunk("XMP ", [9]) + WebPMaker.chunk("EXIF", exif), flags: 0x2c)
    let header = try WebPHeader(BytesSource(whole))
    #expect(header.orientation == .needsQuarterRight && header.profileByteCount == 3)
    #expect(try header.profile(from: BytesSource(whole)) == [1, 2, 3])
    #expect(try readWebP(whole) == readWebP(file))
  }

  @Test(
    "case 47: a file cut off anywhere is an error naming it, or shown in part with a warning",
    arguments: [nil, 80] as [Float?])
  func cutOff(quality: Float?) throws {
    let file = WebPMaker(width: 61, height: 67, quality: quality).encode()
    for count in stride(from: 0, to: file.count, by: 1 + file.count / 60) {
      let cut = Array(file[..<count])
      let error = #expect(throws: PictureError.self, "\(count) bytes") { try readWebP(cut) }
      #expect("\(try #require(error))".hasPrefix("picture.webp: "))
    }
    let source = BytesSource(Array(file[..<(file.count - 9)]))
    let rows = try WebPRows(source, header: WebPHeader(source), damage: .showWhatThereIs)
    let pixels = try readRows(rows)
    #expect(rows.warning != nil && pixels.count == 4 * 61 * 67)
    let whole = try readWebP(file)
    #expect(pixels.prefix(4 * 61 * 8) == whole.prefix(4 * 61 * 8))
  }

  @Test(
    "case 47: a byte changed anywhere is an error, or another picture of the same size",
    arguments: [nil, 80] as [Float?])
  func changedAnywhere(quality: Float?) {
    let file = WebPMaker(width: 41, height: 37, quality: quality).encode()
    for index in stride(from: 0, to: file.count, by: 1 + file.count / 100) {
      var bytes = file
      bytes[index] ^= 0x55
      do {
        let source = BytesSource(bytes)
        let header = try WebPHeader(source)
        // A size that was changed may be anything.
        let limits = WebPLimits(byteCount: 4 << 20)
        let pixels = try readRows(WebPRows(source, header: header, limits: limits))
        #expect(pixels.count == 4 * header.width * header.height)
      } catch {
        #expect(error is PictureError, "byte \(index)")
      }
    }
  }

  @Test func whatIsMissingBehindThePixelsIsAnErrorOrAWarningToo() throws {
    let file = WebPMaker(width: 20, height: 10, quality: 80).encode()
    let exif = WebPMaker.chunk("EXIF", Array(repeating: 0, count: 40))
    let whole = WebPMaker.extended(file, width: 20, height: 10, behind: exif, flags: 8)
    let cut = Array(whole.dropLast(20))
    #expect(throws: PictureError.self) { try readWebP(cut) }
    let source = BytesSource(cut)
    let rows = try WebPRows(source, header: WebPHeader(source), damage: .showWhatThereIs)
    #expect(try readRows(rows) == readWebP(file))
    #expect(rows.warning != nil)
  }

  @Test("case 46: a tiny file that claims the largest size is refused before anything is decoded")
  func huge() throws {
    var lossy = WebPMaker(width: 16, height: 16, quality: 50).encode()
    lossy.replaceSubrange(26..<30, with: [0xff, 0x3f, 0xff, 0x3f])
    let claims = try WebPHeader(BytesSource(lossy))
    #expect(claims.width == 16_383 && claims.height == 16_383)
    #expect(throws: PictureError.self) { try WebPRows(BytesSource(lossy), header: claims, width: 64, height: 64) }
    var lossless = WebPMaker(width: 16, height: 16).encode()
    lossless.replaceSubrange(21..<25, with: [0xff, 0xff, 0xff, 0x0f])
    let header = try WebPHeader(BytesSource(lossless))
    #expect(header.width == 16_384)
    let error = #expect(throws: PictureError.self) {
      try WebPRows(BytesSource(lossless), header: header, width: 64, height: 64)
    }
    guard case .needsMemory(_, let needed, let limit) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(needed > 1 << 30 && limit == 256 << 20)
  }

  @Test func animationsAreSaidToBeNoPictures() {
    let file = WebPMaker.extended(
      WebPMaker(width: 8, height: 8).encode(), width: 8, height: 8,
      before: WebPMaker.chunk("ANIM", [0, 0, 0, 0, 0, 0]),
      flags: 2)
    #expect(throws: PictureError.unsupported(file: "picture.webp", kind: "an animated WebP picture")) {
      try WebPHeader(BytesSource(file, name: "picture.webp"))
    }
  }

  @Test("without the library, the error names it and the file")
  func libraryMissing() throws {
    let error = #expect(throws: PictureError.self) {
      try WebPRows.checkLibrary(for: "a.webp", named: "libwebp-that-is-not-there.so.7")
    }
    let text = "\(try #require(error))"
    #expect(text.hasPrefix("a.webp: ") && text.contains("libwebp-that-is-not-there.so.7") && text.contains("install"))
    #expect(throws: Never.self) { try WebPRows.checkLibrary(for: "a.webp") }
    // A library, but another one.
    #expect(throws: PictureError.self) { try WebPRows.checkLibrary(for: "a.webp", named: "libm.so.6") }
  }
}

/// Files by other programs; skipped where the samples are not there.
@Suite(.enabled(if: SampleFiles.areThere, "the sample files are not beside the package")) struct WebPSampleTests {
  @Test(
    "case 48: samples look like the same picture as JPEG, the right way up",
    arguments: ["hopper", "hopper_orientation_6"])
  func samples(name: String) throws {
    let pool = ChunkPool(budget: .megabytes(4))
    let picture = try Picture.open(BytePath(SampleFiles.path("webp/\(name).webp")))
    #expect(picture.format == .webp && picture.width == 128 && picture.height == 128)
    var pixels: [UInt8] = []
    try PictureChunk(picture, in: pool).forEachRow { pixels += $0 }
    let expected = try readJPEG(try #require(readFile(SampleFiles.path("jpeg/hopper.jpg"))))
    let differences = zip(pixels, expected).map { abs(Int($0) - Int($1)) }
    #expect(pixels.count == expected.count && differences.reduce(0, +) < 8 * differences.count)
  }
}
