import Pictures
import TestSupport
import Testing

@Suite struct PNGDecodingTests {
  /// Every combination that the PNG specification allows (table 11.1).
  static let kinds: [(type: PNGHeader.ColorType, depth: Int)] =
    [1, 2, 4, 8, 16].map { (.grayscale, $0) } + [1, 2, 4, 8].map { (.indexed, $0) }
    + [8, 16].flatMap { [(.truecolor, $0), (.grayscaleAlpha, $0), (.truecolorAlpha, $0)] }

  @Test("case 48: grey, colour, palette, alpha, transparency, 1 to 16 bits, interlaced or not", arguments: kinds)
  func decodesEveryKind(type: PNGHeader.ColorType, depth: Int) throws {
    var random = SeededGenerator(seed: UInt64(depth) << 8 | UInt64(type.rawValue))
    for isInterlaced in [false, true] {
      // Sides from 1: small interlaced pictures lack some of the passes.
      for (width, height) in [(1, 1), (2, 3), (5, 4), (9, 17), (33, 20)] {
        var maker = PNGMaker(
          width: width, height: height, depth: depth, colorType: type, isInterlaced: isInterlaced)
        let most = UInt16((1 << depth) - 1)
        if type == .indexed {
          maker.palette = (0...most).map { _ in
            (.random(in: 0...255, using: &random), .random(in: 0...255, using: &random), 7)
          }
          maker.transparency = (0...most / 2).map { _ in .random(in: 0...255, using: &random) }
        }
        let samples = (0..<width * height * maker.channels).map { _ in UInt16.random(in: 0...most, using: &random) }
        if type == .grayscale || type == .truecolor {
          maker.transparency = Array(samples.prefix(maker.channels))
        }
        let expected = stride(from: 0, to: samples.count, by: maker.channels).flatMap {
          maker.expected(samples[$0..<$0 + maker.channels])
        }
        let file = maker.encode(samples)
        #expect(try decode(BytesSource(file, pieceByteCount: 3)) == expected)
        #expect(try decode(BytesSource(file), alpha: .premultiplied) == premultiplied(expected))
      }
    }
  }

  private func premultiplied(_ pixels: [UInt8]) -> [UInt8] {
    pixels.indices.map { index in
      let alpha = Double(pixels[index | 3])
      return index % 4 == 3 ? pixels[index] : UInt8((Double(pixels[index]) * alpha / 255).rounded())
    }
  }

  @Test func premultipliesEveryColorWithEveryAlphaExactly() throws {
    let maker = PNGMaker(width: 256, height: 256, depth: 8, colorType: .truecolorAlpha)
    let samples = (0..<256).flatMap { color in
      (0..<256).flatMap { alpha in [color, 255 - color, 255, alpha].map(UInt16.init) }
    }
    let straight = samples.map(UInt8.init)
    #expect(
      try decode(BytesSource(maker.encode(samples)), alpha: .premultiplied) == premultiplied(straight))
  }

  @Test func roundsEvery16BitSampleToTheNearest() throws {
    let maker = PNGMaker(width: 256, height: 256, depth: 16, colorType: .grayscale)
    let pixels = try decode(BytesSource(maker.encode((0...65_535).map(UInt16.init))))
    let grey = stride(from: 0, to: pixels.count, by: 4).map { pixels[$0] }
    #expect(grey == (0...65_535).map { UInt8((Double($0) / 257).rounded()) })
  }

  @Test func headerSaysWhatIsInTheFile() throws {
    let maker = PNGMaker(width: 3, height: 2, depth: 16, colorType: .grayscaleAlpha, isInterlaced: true)
    let header = try PNGReader(BytesSource(maker.encode(Array(repeating: 9, count: 12)))).header
    #expect(header.width == 3 && header.height == 2 && header.bitDepth == 16 && header.isInterlaced)
    #expect(header.colorType == .grayscaleAlpha)
    #expect(header.rgbaByteCount == 24)
  }

  @Test func refusesMemoryOfAnotherSize() throws {
    let reader = try PNGReader(
      BytesSource(PNGMaker(width: 2, height: 2, depth: 8, colorType: .grayscale).encode([1, 2, 3, 4])))
    var pixels = [UInt8](repeating: 0, count: 15)
    #expect(throws: PictureError.wrongSize(file: "picture.png", expected: 16, given: 15)) {
      var span = pixels.mutableSpan
      var bytes = span.mutableBytes
      try reader.decode(into: &bytes)
    }
  }
}
