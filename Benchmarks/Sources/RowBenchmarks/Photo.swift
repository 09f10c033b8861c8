import Pictures

/// A picture like a photo, encoded: broad slopes, edges, and the grain of a sensor, which compresses to a quarter.
struct Photo {
  static let side = 2_000
  /// The PNG file.
  let file: [UInt8]

  init(width: Int = side, height: Int = side) throws {
    let sink = BytesSink()
    let writer = try PNGWriter(width: width, height: height, to: sink)
    var row = [UInt8](repeating: 0, count: 4 * width)
    var seed: UInt32 = 1
    for y in 0..<height {
      for x in 0..<width {
        // Tiles of several hundred pixels, each with a slope of its own.
        let tile = (x + y / 3) / 311 + 7 * (y / 257)
        for channel in 0..<3 {
          seed = seed &* 1_664_525 &+ 1_013_904_223
          let slope = x * (tile % 5 + channel) / 16 + y * (tile % 3 + 1) / 12 + 37 * tile
          // Up and down again, instead of a jump from 255 to 0.
          let tone = abs(slope % 400 - 200)
          row[4 * x + channel] = UInt8(min(255, tone + Int(seed >> 30)))
        }
        row[4 * x + 3] = 255
      }
      try writer.write(row: row.span.bytes, alpha: .straight)
    }
    file = sink.bytes
  }
}

/// Keeps what is written.
private final class BytesSink: PictureSink {
  let name = "photo"
  private(set) var bytes: [UInt8] = []
  func write(_ buffer: UnsafeRawBufferPointer) { bytes += buffer }
}

/// Gives out the bytes of a file that is in memory.
final class BytesSource: PositionedSource {
  let name = "photo"
  let byteCount: Int?
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    byteCount = bytes.count
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
    let count = max(0, min(buffer.count, bytes.count - offset))
    bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count])) }
    return count
  }
}
