import Pictures
import TestSupport
import Testing

@Suite struct PNGWritingTests {
  /// A sink that keeps everything.
  final class BytesSink: PictureSink {
    let name = "sink"
    private(set) var bytes: [UInt8] = []
    func write(_ buffer: UnsafeRawBufferPointer) { bytes += buffer }
  }

  private func encode(_ pixels: [UInt8], width: Int, alpha: AlphaForm, level: Int = 6) throws -> [UInt8] {
    let sink = BytesSink()
    let height = pixels.count / 4 / width
    let writer = try PNGWriter(width: width, height: height, to: sink, compressionLevel: level)
    for row in 0..<height {
      let row = Array(pixels[4 * width * row..<4 * width * (row + 1)])
      try writer.write(row: row.span.bytes, alpha: alpha)
    }
    #expect(writer.isComplete)
    return sink.bytes
  }

  @Test(arguments: [0, 1, 6, 9])
  func whatIsWrittenIsReadBack(level: Int) throws {
    var random = SeededGenerator(seed: 4)
    let pixels = (0..<4 * 37 * 23).map { _ in UInt8.random(in: 0...255, using: &random) }
    let file = try encode(pixels, width: 37, alpha: .straight, level: level)
    #expect(try decode(BytesSource(file)) == pixels)
  }

  @Test func premultipliedPixelsSurviveTheWayThroughAFile() throws {
    // Every colour that can stand under every alpha.
    let pixels = (0..<256).flatMap { alpha in
      (0..<256).flatMap { color in [min(color, alpha), 0, alpha, alpha].map(UInt8.init) }
    }
    let file = try encode(pixels, width: 256, alpha: .premultiplied)
    #expect(try decode(BytesSource(file), alpha: .premultiplied) == pixels)
  }

  @Test func whatTheSinkThrowsComesThrough() throws {
    struct DiskFull: Error {}
    final class Full: PictureSink {
      let name = "disk"
      func write(_ buffer: UnsafeRawBufferPointer) throws { throw DiskFull() }
    }
    #expect(throws: DiskFull.self) {
      let writer = try PNGWriter(width: 1, height: 1, to: Full())
      let row: [UInt8] = [1, 2, 3, 4]
      try writer.write(row: row.span.bytes, alpha: .straight)
    }
  }
}
