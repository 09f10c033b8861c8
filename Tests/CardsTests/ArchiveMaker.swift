import CZip
import Cards
import Pictures
import TestSupport

/// Makes OpenRaster files for tests, also such as no program would write.
struct ArchiveMaker {
  var entries: [(name: String, bytes: [UInt8])] = [("mimetype", Array("image/openraster".utf8))]
  /// Entries that are encrypted.
  var encrypted: Set<String> = []

  init() {}

  /// A document with the given text of `stack.xml`.
  init(stack: String) {
    add("stack.xml", Array(stack.utf8))
  }

  /// A document of 4 x 4 pixels with the given elements in its root stack.
  init(elements: String, attributes: String = "version=\"0.0.6\"") {
    self.init(stack: "<image w=\"4\" h=\"4\" \(attributes)><stack>\(elements)</stack></image>")
  }

  mutating func add(_ name: String, _ bytes: [UInt8]) {
    entries.append((name, bytes))
  }

  /// Adds a picture whose pixels, 8-bit RGBA, are all the same.
  mutating func add(_ name: String, width: Int = 4, height: Int = 4, pixel: [UInt8] = [200, 100, 50, 255]) {
    let row = (0..<width).flatMap { _ in pixel }
    add(name, makePNG(width: width, rows: Array(repeating: row, count: height)))
  }

  func write(to path: String) {
    var code: Int32 = 0
    guard let archive = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &code) else { fatalError("zip error \(code)") }
    var kept: [UnsafeMutableRawPointer] = []
    for entry in entries {
      let copy = UnsafeMutableRawPointer.allocate(byteCount: max(1, entry.bytes.count), alignment: 1)
      copy.copyMemory(from: entry.bytes, byteCount: entry.bytes.count)
      kept.append(copy)
      let source = zip_source_buffer(archive, copy, UInt64(entry.bytes.count), 0)
      let index = zip_file_add(archive, entry.name, source!, 0)
      precondition(index >= 0)
      zip_set_file_compression(archive, UInt64(index), ZIP_CM_STORE, 0)
      if encrypted.contains(entry.name) {
        precondition(zip_file_set_encryption(archive, UInt64(index), UInt16(ZIP_EM_AES_256), "secret") == 0)
      }
    }
    precondition(zip_close(archive) == 0)
    kept.forEach { $0.deallocate() }
  }
}

/// A PNG file of rows of 8-bit RGBA with straight alpha.
func makePNG(width: Int, rows: [[UInt8]]) -> [UInt8] {
  final class Sink: PictureSink {
    let name = "test picture"
    private(set) var bytes: [UInt8] = []
    func write(_ buffer: UnsafeRawBufferPointer) { bytes += buffer }
  }
  let sink = Sink()
  do {
    let writer = try PNGWriter(width: width, height: rows.count, to: sink, compressionLevel: 1)
    for row in rows { try writer.write(row: row.span.bytes, alpha: .straight) }
  } catch {
    fatalError("\(error)")
  }
  return sink.bytes
}

/// The pixels of a PNG file, 8-bit RGBA with straight alpha.
func readPNG(_ path: String) throws -> (width: Int, height: Int, pixels: [UInt8]) {
  let reader = try PNGReader(FileSource(BytePath(path)))
  var pixels = [UInt8](repeating: 0, count: reader.header.rgbaByteCount)
  var span = pixels.mutableSpan
  var bytes = span.mutableBytes
  try reader.decode(into: &bytes, alpha: .straight)
  return (reader.header.width, reader.header.height, pixels)
}
