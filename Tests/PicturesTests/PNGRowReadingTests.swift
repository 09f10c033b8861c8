import CSpng
import Pictures
import TestSupport
import Testing

@Suite struct PNGRowReadingTests {
  typealias Inflater = PNGRowReader.Inflater

  /// What rows are read of; every combination of it and the two inflaters must give the same pixels.
  static let kinds: [(type: PNGHeader.ColorType, depth: Int)] =
    [(.indexed, 8)]
    + [8, 16].flatMap { depth in
      [.grayscale, .truecolor, .grayscaleAlpha, .truecolorAlpha].map { ($0, depth) }
    }

  /// Palette and transparency, where the kind has them.
  private func colors(_ type: PNGHeader.ColorType, _ depth: Int, using random: inout SeededGenerator) -> [UInt8] {
    func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: 0...255, using: &random) } }
    switch type {
    // Some indexes have no colour, and some colours no alpha.
    case .indexed: return PNGPieces.chunk("PLTE", bytes(3 * 200)) + PNGPieces.chunk("tRNS", bytes(100))
    case .grayscale: return PNGPieces.chunk("tRNS", [0, 7])
    // At 8 bits the high bytes do not count.
    case .truecolor: return PNGPieces.chunk("tRNS", [9, 7, 9, 7, 9, 7].map { depth == 8 || $0 == 7 ? $0 : 0 })
    case .grayscaleAlpha, .truecolorAlpha: return []
    }
  }

  /// 8-bit or 16-bit RGBA by libspng alone.
  private func oracle(_ file: [UInt8], _ format: spng_format) -> [UInt8]? {
    let context = spng_ctx_new(0)
    defer { spng_ctx_free(context) }
    spng_set_png_buffer(context, file, file.count)
    var count = 0
    guard spng_decoded_image_size(context, Int32(format.rawValue), &count) == 0 else { return nil }
    var pixels = [UInt8](repeating: 0, count: count)
    let flags = Int32(SPNG_DECODE_TRNS.rawValue)
    return spng_decode_image(context, &pixels, count, Int32(format.rawValue), flags) == 0 ? pixels : nil
  }

  @Test("rows of every kind, filter and width are those of libspng", arguments: kinds)
  func everyFilterAndWidth(type: PNGHeader.ColorType, depth: Int) throws {
    var random = SeededGenerator(seed: UInt64(depth) << 8 | UInt64(type.rawValue))
    for width in 1...70 {
      let header = try PNGHeader(
        BytesSource(PNGPieces.start(width: width, height: 9, depth: depth, colorType: type)))
      let pixelBytes = PNGMaker(width: 1, height: 1, depth: depth, colorType: type).channels * depth / 8
      // Small bytes too, so that keys and the near cases of Paeth's filter are met.
      let most: UInt8 = width % 2 == 0 ? 7 : 255
      let rows = (0..<9).flatMap { row in
        [UInt8(row % 5)] + (0..<width * pixelBytes).map { _ in .random(in: 0...most, using: &random) }
      }
      let file =
        PNGPieces.start(width: width, height: 9, depth: depth, colorType: type)
        + colors(type, depth, using: &random)
        + PNGPieces.pixels(PNGPieces.stored(rows), inChunksOf: .random(in: 1...400, using: &random)) + PNGPieces.end
      for inflater in [Inflater.small, .fast] {
        let source = BytesSource(file, pieceByteCount: .random(in: 1...500, using: &random))
        let isRight = try readRows(source, header, .rgba8, inflater) == decode(BytesSource(file))
        #expect(isRight, "width \(width)")
        let wide = try readRows(BytesSource(file), header, .rgba16, inflater)
        let expected = depth == 16 ? oracle(file, SPNG_FMT_RGBA16) : oracle(file, SPNG_FMT_RGBA8)?.flatMap { [$0, $0] }
        let isWideRight = wide == expected
        #expect(isWideRight, "width \(width)")
      }
    }
  }

  @Test("rows that were compressed in earnest, cut into chunks of every size", arguments: kinds)
  func compressed(type: PNGHeader.ColorType, depth: Int) throws {
    var random = SeededGenerator(seed: UInt64(depth) << 8 | UInt64(type.rawValue))
    for (width, height, chunk) in [(70, 40, 1), (300, 70, 7), (700, 60, 8_192)] {
      var maker = PNGMaker(width: width, height: height, depth: depth, colorType: type)
      if type == .indexed { maker.palette = (0..<256).map { (UInt8($0), 1, 2) } }
      // A slope with some grain, as photos have; it takes distances up to the whole window.
      let most = (1 << depth) - 1
      let samples = (0..<width * height * maker.channels).map { index in
        UInt16((index * 5 / maker.channels + Int.random(in: 0...3, using: &random)) & most)
      }
      let whole = maker.encode(samples)
      let file = try rechunked(whole, inChunksOf: chunk)
      let header = try PNGHeader(BytesSource(file))
      let expected = try decode(BytesSource(whole))
      for (inflater, isParked) in [(Inflater.small, false), (.small, true), (.fast, false), (.fast, true)] {
        let isRight = try readRows(BytesSource(file), header, .rgba8, inflater, isParked: isParked) == expected
        #expect(isRight, "\(width) x \(height)")
      }
    }
  }

  /// The same picture with its compressed pixels in chunks of another size.
  private func rechunked(_ file: [UInt8], inChunksOf byteCount: Int) throws -> [UInt8] {
    var (before, stream, position) = (PNGPieces.signature, [UInt8](), 8)
    while position < file.count {
      let length = file[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
      let chunk = file[position..<position + 12 + length]
      position = chunk.endIndex
      switch String(decoding: chunk.dropFirst(4).prefix(4), as: UTF8.self) {
      case "IDAT": stream += chunk.dropFirst(8).dropLast(4)
      case "IEND": break
      default: before += chunk
      }
    }
    return before + PNGPieces.pixels(stream, inChunksOf: byteCount) + PNGPieces.end
  }

  @Test func skippedRowsChangeNothing() throws {
    var random = SeededGenerator(seed: 5)
    let maker = PNGMaker(width: 40, height: 60, depth: 16, colorType: .truecolor)
    let file = maker.encode((0..<40 * 60 * 3).map { _ in .random(in: 0...500, using: &random) })
    let header = try PNGHeader(BytesSource(file))
    let expected = try readRows(BytesSource(file), header, .rgba16, .small)
    let memory = RowMemory(header, .rgba16, .fast)
    for first in [0, 1, 2, 30, 59] {
      // In the same memory again, as a freed decoder that is made anew.
      let reader = try PNGRowReader(
        BytesSource(file), header: header, format: .rgba16, inflater: .fast, memory: memory.kept,
        scratch: memory.scratch)
      try reader.skipRows(first, memory.scratch)
      #expect(reader.rowsRead == first)
      let row = try #require(try reader.nextRow(memory.scratch))
      #expect(Array(row) == Array(expected[first * 320..<(first + 1) * 320]))
      try reader.skipRows(59 - first, memory.scratch)
      #expect(try reader.nextRow(memory.scratch) == nil)
    }
    withExtendedLifetime(memory) {}
  }

  @Test(arguments: [(8, 0, true), (16, 0, true), (4, 0, false), (8, 1, false)] as [(Int, UInt8, Bool)])
  func onlyWhatItReadsIsClaimed(depth: Int, interlace: UInt8, can: Bool) throws {
    let start = PNGPieces.start(width: 5, height: 5, depth: depth, colorType: .grayscale, interlace: interlace)
    #expect(PNGRowReader.canRead(try PNGHeader(BytesSource(start))) == can)
  }

  @Test func theSmallerStateIsSmallerOrTheSame() throws {
    let header = try PNGHeader(BytesSource(PNGPieces.start(width: 4_000, height: 5)))
    let small = PNGRowReader.byteCount(for: header, format: .rgba8, inflater: .small)
    let fast = PNGRowReader.byteCount(for: header, format: .rgba8, inflater: .fast)
    #expect(small <= fast)
    // State and one row.
    #expect(small < (41 << 10) + 16_100)
    #expect(PNGRowReader.scratchByteCount(for: header, format: .rgba8) < (8 << 10) + 16_100)
  }
}

/// Files of Willem van Schaik's PngSuite and of others; skipped where the samples are not there.
@Suite(.enabled(if: SampleFiles.areThere, "the sample files are not beside the package")) struct PNGRowSampleTests {
  @Test(arguments: PNGSampleTests.checksums.map(\.name))
  func samplesAreReadAsByLibspng(name: String) throws {
    let path = BytePath(SampleFiles.path("png/\(name).png"))
    let header = try PNGHeader(FileSource(path))
    #expect(try header == PNGReader(FileSource(path)).header)
    guard PNGRowReader.canRead(header) else { return }
    let expected = try decode(FileSource(path))
    for inflater in [PNGRowReader.Inflater.small, .fast] {
      let isRight = try readRows(FileSource(path), header, .rgba8, inflater, isParked: true) == expected
      #expect(isRight)
    }
  }
}
