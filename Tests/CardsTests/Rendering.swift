import Cards
import MemChunks
import Pictures

/// A document rendered into memory, in a pool of its own.
struct Rendering {
  /// The PNG file.
  let bytes: [UInt8]
  let account: RenderAccount

  @discardableResult
  init(_ file: OpenRasterFile, budget: Int, threads: Int = 2) throws {
    let sink = BytesSink()
    let pool = ChunkPool(budget: .bytes(budget))
    account = try file.render(
      to: sink, in: pool, options: RenderOptions(threads: threads, compressionLevel: 1))
    bytes = sink.bytes
  }

  /// 8-bit RGBA with straight alpha.
  var pixels: [UInt8] {
    get throws { try decode(BytesSource(bytes)).pixels }
  }
}

/// Bytes as a sink.
final class BytesSink: PictureSink {
  let name = "bytes in memory"
  private(set) var bytes: [UInt8] = []

  func write(_ buffer: UnsafeRawBufferPointer) { bytes += buffer }
}

/// Bytes as a source.
final class BytesSource: PictureSource {
  let name = "bytes in memory"
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let piece = rest.prefix(buffer.count)
    buffer.copyBytes(from: piece)
    rest = rest.dropFirst(piece.count)
    return piece.count
  }
}

/// The pixels of a PNG picture, 8-bit RGBA with straight alpha.
func decode(_ source: any PictureSource) throws -> (width: Int, height: Int, pixels: [UInt8]) {
  let reader = try PNGReader(source)
  var pixels = [UInt8](repeating: 0, count: reader.header.rgbaByteCount)
  var span = pixels.mutableSpan
  var bytes = span.mutableBytes
  try reader.decode(into: &bytes, alpha: .straight)
  return (reader.header.width, reader.header.height, pixels)
}
