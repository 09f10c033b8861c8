import Pictures
import TestSupport
import Testing

/// Readers that share a scratch, and what they read for it.
@Suite struct PNGRowParkingTests {
  typealias Inflater = PNGRowReader.Inflater

  /// A picture that compresses as a photo does, into chunks larger than the window.
  private func photo(_ type: PNGHeader.ColorType, depth: Int = 8, width: Int = 120, height: Int = 40) -> [UInt8] {
    var random = SeededGenerator(seed: UInt64(type.rawValue))
    var maker = PNGMaker(width: width, height: height, depth: depth, colorType: type)
    if type == .indexed { maker.palette = (0..<1 << depth).map { (UInt8($0), 7, 8) } }
    return maker.encode(
      (0..<width * height * maker.channels).map { index in
        UInt16((index / 7 + .random(in: 0...7, using: &random)) & (1 << depth - 1))
      })
  }

  private func rows(
    _ file: any PositionedSource, _ inflater: Inflater, _ format: PNGRowReader.Format, _ scratch: PNGRowScratch
  ) throws -> PNGRows {
    try PNGRows(header: PNGHeader(file), format: format, inflater: inflater, scratch: scratch) { file }
  }

  @Test("readers of every kind take turns in one scratch", arguments: [Inflater.small, .fast], [false, true])
  func turns(inflater: Inflater, isParked: Bool) throws {
    let files = [
      photo(.truecolorAlpha), photo(.truecolor, depth: 16), photo(.indexed), photo(.grayscaleAlpha),
      photo(.indexed, depth: 4), photo(.truecolorAlpha, width: 11),
    ]
    for format in [PNGRowReader.Format.rgba8, .rgba16] {
      let headers = try files.map { try PNGHeader(BytesSource($0)) }
      let scratch = PNGRowScratch(
        byteCount: headers.map { PNGRows.scratchByteCount(for: $0, format: format) }.max()!)
      let readers = try files.map { try rows(BytesSource($0), inflater, format, scratch) }
      let alone = try zip(files, headers).map { file, header in
        let reader = try rows(BytesSource(file), inflater, format, scratch)
        return try (0..<header.height).map { _ in Array(try #require(try reader.nextRow(scratch))) }
      }
      for row in 0..<headers[0].height {
        for (reader, expected) in zip(readers, alone) {
          let isRight = try reader.nextRow(scratch).map(Array.init) == expected[row]
          #expect(isRight, "row \(row) of \(reader.header)")
          if isParked { reader.park() }
        }
      }
      for reader in readers { #expect(try reader.nextRow(scratch) == nil) }
    }
  }

  @Test func aReaderMovesFromScratchToScratch() throws {
    let file = photo(.truecolorAlpha)
    let header = try PNGHeader(BytesSource(file))
    let scratches = (0..<3).map { _ in
      PNGRowScratch(byteCount: PNGRows.scratchByteCount(for: header, format: .rgba8))
    }
    let reader = try rows(BytesSource(file), .small, .rgba8, scratches[0])
    var pixels: [UInt8] = []
    for row in 0..<header.height { pixels += try #require(try reader.nextRow(scratches[row % 3])) }
    let isRight = try pixels == decode(BytesSource(file))
    #expect(isRight)
  }

  @Test("a parked reader reads little twice", arguments: [Inflater.small, .fast])
  func readsOnce(inflater: Inflater) throws {
    let file = photo(.truecolorAlpha, width: 300, height: 90)
    let source = BytesSource(file, pieceByteCount: .max)
    let header = try PNGHeader(source)
    _ = try readRows(source, header, .rgba8, inflater, isParked: true)
    #expect(source.bytesGiven < file.count * 3 / 2, "\(source.bytesGiven) of \(file.count) bytes")
    let inOnePiece = BytesSource(file, pieceByteCount: .max)
    _ = try readRows(inOnePiece, header, .rgba8, inflater)
    #expect(inOnePiece.bytesGiven == file.count)
  }

  @Test func skippedChunksAreNotRead() throws {
    let file = photo(.truecolorAlpha)
    let text = PNGPieces.chunk("tEXt", [65, 0] + Array(repeating: 66, count: 1 << 20))
    let source = BytesSource(Array(file[..<33]) + text + file[33...], pieceByteCount: .max)
    #expect(try readRows(source, PNGHeader(source), .rgba8, .small) == decode(BytesSource(file)))
    #expect(source.bytesGiven < file.count + (20 << 10))
  }

  @Test("the last piece is enough for parked readers", arguments: [1, 700, 8_192, 100_000])
  func sequential(piece: Int) throws {
    let file = photo(.truecolorAlpha)
    let header = try PNGHeader(BytesSource(file))
    for inflater in [Inflater.small, .fast] {
      for byteCount in [nil, file.count] {
        let source = BufferedSource(BytesSource(file, pieceByteCount: piece), byteCount: byteCount)
        let isRight = try readRows(source, header, .rgba8, inflater, isParked: true) == decode(BytesSource(file))
        #expect(isRight)
      }
    }
  }

  @Test func whatIsNoLongerKeptIsAnErrorNotOtherBytes() throws {
    let source = BufferedSource(BytesSource(Array(repeating: 1, count: 20_000), pieceByteCount: 20_000))
    var bytes = [UInt8](repeating: 0, count: 100)
    func read(at offset: Int) throws -> Int {
      try bytes.withUnsafeMutableBytes { try source.read(into: $0, at: offset) }
    }
    #expect(try read(at: 8_100) == 92)
    #expect(try read(at: 0) == 100)
    #expect(try read(at: 9_000) == 100)
    #expect(throws: PictureError.self) { try read(at: 8_191) }
    #expect(try read(at: 30_000) == 0)
  }

  @Test("samples of less than 8 bits have rows too", arguments: [1, 2, 4], [PNGHeader.ColorType.grayscale, .indexed])
  func lowDepths(depth: Int, type: PNGHeader.ColorType) throws {
    let file = photo(type, depth: depth)
    let header = try PNGHeader(BytesSource(file))
    #expect(!PNGRowReader.canRead(header))
    let expected = try decode(BytesSource(file))
    for format in [PNGRowReader.Format.rgba8, .rgba16] {
      let scratch = PNGRowScratch(byteCount: PNGRows.scratchByteCount(for: header, format: format))
      let reader = try rows(BytesSource(file), .small, format, scratch)
      try reader.skipRows(2, scratch)
      var pixels: [UInt8] = []
      while let row = try reader.nextRow(scratch) { pixels += row }
      #expect(reader.rowsRead == header.height)
      // Times 257 is the same byte twice.
      let isRight = pixels == expected.dropFirst(8 * header.width).flatMap { format == .rgba8 ? [$0] : [$0, $0] }
      #expect(isRight)
    }
  }

  @Test func anotherPictureThanTheOneAskedForIsRefused() throws {
    let other = try PNGHeader(BytesSource(photo(.grayscale, depth: 2)))
    let scratch = PNGRowScratch(byteCount: PNGRows.scratchByteCount(for: other, format: .rgba16))
    #expect(throws: PictureError.changed(file: "picture.png")) {
      try PNGRows(header: other, format: .rgba8, inflater: .small, scratch: scratch) {
        BytesSource(photo(.grayscale, depth: 4))
      }
    }
  }
}
