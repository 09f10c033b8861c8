import Cards
import MemChunks
import Pictures

/// The pictures of a sample's layers as PNG files in memory, drawn and encoded by the pool's threads ahead of their use.
final class SampleLayers {
  private let files: [ValueChunk<[UInt8]>]
  private let pool: ChunkPool
  private var next = 0

  /// How many are made ahead; more would only wait for processors.
  private static let ahead = RenderOptions.defaultThreads

  /// As quick as zlib can be with the grain of photographs, which nothing makes much shorter.
  private static let compressionLevel = 1

  init(_ sample: SampleDocument, in pool: ChunkPool) {
    self.pool = pool
    let (width, height) = (sample.width, sample.height)
    files = sample.document.items.compactMap { item in
      guard case .layer(let layer) = item else { return nil }
      let painter = sample.painter(of: layer)
      return ValueChunk(in: pool, label: layer.name, size: Self.byteCount(width, height)) {
        try Self.encode(painter, width, height)
      }
    }
  }

  /// What room in the pool the files take that are there at a time.
  static func budget(_ sample: SampleDocument) -> Int { (ahead + 1) * byteCount(sample.width, sample.height) }

  /// The file of the next layer, in the order of the document.
  func nextFile() throws -> BytesSource {
    let file = files[next]
    next += 1
    // One by one, so that several threads take them.
    for later in files[next..<min(next + Self.ahead, files.count)] { pool.prefetch([later]) }
    let source = try file.withReady { BytesSource(name: file.label, bytes: $0) }
    file.discard()
    return source
  }

  /// No file is as long as its pixels, which are not all noise.
  private static func byteCount(_ width: Int, _ height: Int) -> Int { 4 * width * height + 4_096 }

  private static func encode(_ painter: LayerPainter, _ width: Int, _ height: Int) throws -> [UInt8] {
    var painter = painter
    let sink = BytesSink()
    let writer = try PNGWriter(width: width, height: height, to: sink, compressionLevel: compressionLevel)
    var row = [UInt8](repeating: 0, count: 4 * width)
    for _ in 0..<height {
      row.withUnsafeMutableBytes { painter.drawRow(into: $0) }
      try writer.write(row: row.span.bytes, alpha: .straight)
    }
    return sink.bytes
  }
}

/// A file that is in memory.
struct BytesSource: PositionedSource {
  let name: String
  let bytes: [UInt8]

  var byteCount: Int? { bytes.count }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
    bytes.withUnsafeBytes { bytes in
      let piece = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(offset).prefix(buffer.count))
      buffer.copyMemory(from: piece)
      return piece.count
    }
  }
}

/// Keeps what is written.
private final class BytesSink: PictureSink {
  let name = "layer"
  private(set) var bytes: [UInt8] = []

  func write(_ buffer: UnsafeRawBufferPointer) { bytes += buffer }
}
