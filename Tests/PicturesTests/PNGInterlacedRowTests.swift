import Pictures
import TestSupport
import Testing

/// Interlaced pictures, read row by row.
@Suite struct PNGInterlacedRowTests {
  static let kinds: [(type: PNGHeader.ColorType, depth: Int)] =
    [(.grayscale, 1), (.grayscale, 2), (.grayscale, 4), (.indexed, 1), (.indexed, 4), (.indexed, 8)]
    + [8, 16].flatMap { depth in
      [.grayscale, .truecolor, .grayscaleAlpha, .truecolorAlpha].map { ($0, depth) }
    }

  private func maker(_ type: PNGHeader.ColorType, _ depth: Int, _ width: Int, _ height: Int) -> PNGMaker {
    var maker = PNGMaker(width: width, height: height, depth: depth, colorType: type, isInterlaced: true)
    if type == .indexed { maker.palette = (0..<1 << depth).map { (UInt8($0), 7, 8) } }
    if type == .grayscale { maker.transparency = [1] }
    return maker
  }

  private func file(_ maker: PNGMaker) -> [UInt8] {
    var random = SeededGenerator(seed: UInt64(maker.width * 100 + maker.height))
    return maker.encode(
      (0..<maker.width * maker.height * maker.channels).map { _ in
        .random(in: 0...UInt16((1 << maker.depth) - 1), using: &random)
      })
  }

  private func rows(
    _ file: [UInt8], _ format: PNGRowReader.Format, _ scratch: PNGRowScratch, pieceByteCount: Int = 1_000
  ) throws -> PNGRows {
    try PNGRows(header: PNGHeader(BytesSource(file)), format: format, inflater: .small, scratch: scratch) {
      // As an archive has it, where nothing can be read again.
      BufferedSource(BytesSource(file, pieceByteCount: pieceByteCount), byteCount: file.count)
    }
  }

  private func scratch(_ file: [UInt8], _ format: PNGRowReader.Format) throws -> PNGRowScratch {
    try PNGRowScratch(byteCount: PNGRows.scratchByteCount(for: PNGHeader(BytesSource(file)), format: format))
  }

  @Test("case 48: interlaced rows of every kind are those of the whole picture", arguments: kinds)
  func everyKind(type: PNGHeader.ColorType, depth: Int) throws {
    // Sides from 1: small pictures lack some of the passes.
    for (width, height) in (1...9).flatMap({ width in (1...9).map { (width, $0) } }) + [(70, 33), (200, 1)] {
      let file = file(maker(type, depth, width, height))
      let scratch = try scratch(file, .rgba8)
      let reader = try rows(file, .rgba8, scratch, pieceByteCount: 7)
      var pixels: [UInt8] = []
      while let row = try reader.nextRow(scratch) { pixels += row }
      let isRight = try pixels == decode(BytesSource(file))
      #expect(isRight, "\(width) x \(height)")
      #expect(try reader.nextRow(scratch) == nil)
    }
  }

  @Test("what is too large to be kept is read by all passes at once", arguments: [8, 16])
  func large(depth: Int) throws {
    let file = file(maker(.truecolorAlpha, depth, 301, 311))
    #expect(try PNGRows.sourceCount(for: PNGHeader(BytesSource(file))) == 7)
    let scratch = try scratch(file, .rgba8)
    let reader = try rows(file, .rgba8, scratch)
    try reader.skipRows(5, scratch)
    var pixels: [UInt8] = []
    while let row = try reader.nextRow(scratch) { pixels += row }
    let isRight = try pixels == Array(decode(BytesSource(file))[(5 * 301 * 4)...])
    #expect(isRight)
  }

  @Test func sixteenBitsAreKeptWhenAskedFor() throws {
    let maker = maker(.truecolorAlpha, 16, 21, 13)
    let samples = (0..<21 * 13 * 4).map { UInt16(truncatingIfNeeded: $0 * 7_919) }
    let file = maker.encode(samples)
    let scratch = try scratch(file, .rgba16)
    let reader = try rows(file, .rgba16, scratch)
    try reader.skipRows(3, scratch)
    #expect(reader.rowsRead == 3)
    var found: [UInt16] = []
    while let row = try reader.nextRow(scratch) { found += row.bindMemory(to: UInt16.self) }
    #expect(found == Array(samples[(3 * 21 * 4)...]))
  }

  @Test func eightBitsAreWidenedWhenSixteenAreAskedFor() throws {
    let file = file(maker(.truecolorAlpha, 8, 9, 9))
    let scratch = try scratch(file, .rgba16)
    let reader = try rows(file, .rgba16, scratch)
    var found: [UInt8] = []
    while let row = try reader.nextRow(scratch) { found += row }
    #expect(try found == decode(BytesSource(file)).flatMap { [$0, $0] })
  }

  @Test("case 47: a file that is cut off anywhere is refused, at the latest with the last row", arguments: [20, 350])
  func cutOff(side: Int) throws {
    let whole = file(maker(.truecolor, 8, side, side))
    let scratch = try scratch(whole, .rgba8)
    for count in stride(from: 40, to: whole.count, by: whole.count / 19) + [whole.count - 1] {
      let file = Array(whole[..<count])
      #expect(throws: PictureError.self, "\(count) bytes") {
        let reader = try rows(file, .rgba8, scratch)
        while try reader.nextRow(scratch) != nil {}
      }
    }
  }

  @Test("what there is of a cut file is shown on request: the passes that came", arguments: [20, 350])
  func partial(side: Int) throws {
    let whole = file(maker(.truecolor, 8, side, side))
    let cut = Array(whole[..<(whole.count * 4 / 5)])
    let scratch = try scratch(whole, .rgba8)
    let reader = try PNGRows(
      header: PNGHeader(BytesSource(cut)), format: .rgba8, inflater: .small, scratch: scratch,
      damage: .showWhatThereIs
    ) { BytesSource(cut) }
    var pixels: [UInt8] = []
    while let row = try reader.nextRow(scratch) { pixels += row }
    #expect(reader.warning != nil)
    let expected = try decode(BytesSource(whole))
    #expect(pixels.count == expected.count)
    // Three quarters of the file are more than the passes that have the even rows.
    for y in stride(from: 0, to: side, by: 2) {
      let row = 4 * side * y..<4 * side * (y + 1)
      #expect(pixels[row] == expected[row])
    }
    #expect(pixels.suffix(4 * side) == expected.suffix(4 * side) || pixels.suffix(4 * side).allSatisfy { $0 == 0 })
  }

  @Test func anotherPictureThanTheOneAskedForIsRefused() throws {
    let header = try PNGHeader(BytesSource(file(maker(.truecolor, 8, 20, 20))))
    let other = file(maker(.truecolor, 8, 20, 19))
    #expect(throws: PictureError.changed(file: "picture.png")) {
      try PNGRows(header: header, format: .rgba8, inflater: .small, scratch: scratch(other, .rgba8)) {
        BytesSource(other)
      }
    }
  }

  @Test func whatIsKeptIsAFractionOfThePicture() throws {
    let header = try PNGHeader(BytesSource(PNGPieces.start(width: 4_000, height: 3_000, interlace: 1)))
    #expect(PNGRows.byteCount(for: header, format: .rgba8, inflater: .small) < 1 << 20)
    #expect(PNGRows.sourceCount(for: header) == 7)
    let tiny = try PNGHeader(BytesSource(PNGPieces.start(width: 1, height: 1, interlace: 1)))
    #expect(PNGRows.sourceCount(for: tiny) == 1)
  }
}

/// Files of PngSuite; skipped where the samples are not there.
@Suite(.enabled(if: SampleFiles.areThere, "the sample files are not beside the package")) struct PNGAnyRowSampleTests {
  @Test("rows of every sample are those of the whole picture", arguments: PNGSampleTests.checksums)
  func samples(name: String, checksum: UInt64) throws {
    let path = BytePath(SampleFiles.path("png/\(name).png"))
    let header = try PNGHeader(FileSource(path))
    let scratch = PNGRowScratch(byteCount: PNGRows.scratchByteCount(for: header, format: .rgba8))
    let reader = try PNGRows(header: header, format: .rgba8, inflater: .fast, scratch: scratch) {
      try FileSource(path)
    }
    var found: UInt64 = 0xcbf2_9ce4_8422_2325
    while let row = try reader.nextRow(scratch) {
      found = row.reduce(found) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
    #expect(found == checksum)
  }
}
