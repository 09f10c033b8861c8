import CZlib
import Cards
import Pictures

/// Makes OpenRaster files for tests, byte by byte, also such as no program would write.
struct ArchiveMaker {
  /// An entry, and how its headers describe it.
  struct Entry {
    var name: String
    var bytes: [UInt8]
    /// The method that stands in the headers.
    var method: UInt16 = 0
    /// What stands in the file; the bytes themselves if nil.
    var stored: [UInt8]?
    var isEncrypted = false
    /// Whether sizes and position stand in the wide fields of zip64.
    var isWide = false
    /// What the headers say instead of the length of `bytes`.
    var claimedByteCount: Int?
    /// What the headers say instead of the length of what is stored.
    var claimedStoredByteCount: Int?
    /// What is added to the checksum.
    var checksumError: UInt32 = 0
  }

  var entries = [Entry(name: "mimetype", bytes: Array("image/openraster".utf8))]
  /// What the end of the directory says instead of the number of entries.
  var claimedEntryCount: UInt16?

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
    entries.append(Entry(name: name, bytes: bytes))
  }

  /// Adds a picture whose pixels, 8-bit RGBA, are all the same.
  mutating func add(_ name: String, width: Int = 4, height: Int = 4, pixel: [UInt8] = [200, 100, 50, 255]) {
    let row = (0..<width).flatMap { _ in pixel }
    add(name, makePNG(width: width, rows: Array(repeating: row, count: height)))
  }

  /// Deflates the entries of these names, or all but the first.
  mutating func deflate(_ names: String...) {
    for index in entries.indices.dropFirst() where names.isEmpty || names.contains(entries[index].name) {
      entries[index].method = 8
      entries[index].stored = deflated(entries[index].bytes)
    }
  }

  /// Changes the entry of a name.
  mutating func change(_ name: String, _ body: (inout Entry) -> Void) {
    body(&entries[entries.firstIndex { $0.name == name }!])
  }

  /// The whole file.
  var file: [UInt8] {
    var file: [UInt8] = []
    var directory: [UInt8] = []
    for entry in entries {
      let position = file.count
      let description = entry.description
      file += [0x50, 0x4b, 3, 4] + description.common + description.wideSizes.count16
      file += entry.name.utf8 + description.wideSizes + (entry.stored ?? entry.bytes)
      let wide = entry.isWide ? little(1, 2) + little(24, 2) + description.sizes + little(position, 8) : []
      directory += [0x50, 0x4b, 1, 2, 45, 3] + description.common + wide.count16
      directory += little(0, 10) + little(entry.isWide ? 0xffff_ffff : position, 4) + entry.name.utf8 + wide
    }
    let count = claimedEntryCount ?? UInt16(truncatingIfNeeded: entries.count)
    let start = file.count
    file += directory
    if entries.count > 0xffff {
      let wide = file.count
      file += [0x50, 0x4b, 6, 6] + little(44, 8) + little(45, 2) + little(45, 2) + little(0, 8)
      file += little(entries.count, 8) + little(entries.count, 8) + little(directory.count, 8) + little(start, 8)
      file += [0x50, 0x4b, 6, 7] + little(0, 4) + little(wide, 8) + little(1, 4)
      return file + [0x50, 0x4b, 5, 6] + little(0, 4) + little(0xffff, 2) + little(0xffff, 2)
        + little(0xffff_ffff, 4) + little(0xffff_ffff, 4) + little(0, 2)
    }
    return file + [0x50, 0x4b, 5, 6] + little(0, 4) + little(Int(count), 2) + little(Int(count), 2)
      + little(directory.count, 4) + little(start, 4) + little(0, 2)
  }
}

extension ArchiveMaker.Entry {
  /// The fields that both headers of an entry have, up to the length of the name.
  fileprivate var description: (common: [UInt8], sizes: [UInt8], wideSizes: [UInt8]) {
    let count = claimedByteCount ?? bytes.count
    let storedCount = claimedStoredByteCount ?? (stored ?? bytes).count
    let checksum = checksum(bytes[...]) &+ checksumError
    let sizes = little(count, 8) + little(storedCount, 8)
    let narrow = isWide ? little(-1, 8) : little(storedCount, 4) + little(count, 4)
    let common =
      little(45, 2) + little(isEncrypted ? 1 : 0, 2) + little(Int(method), 2) + little(0x21_0000, 4)
      + little(Int(checksum), 4) + narrow + little(name.utf8.count, 2)
    return (common, sizes, isWide ? little(1, 2) + little(16, 2) + sizes : [])
  }
}

extension [UInt8] {
  fileprivate var count16: [UInt8] { little(count, 2) }
}

/// The lowest bytes of a number, the lowest first.
private func little(_ value: Int, _ count: Int) -> [UInt8] {
  (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
}

/// Bytes as deflate compresses them, with no header.
func deflated(_ bytes: [UInt8]) -> [UInt8] {
  var count = compressBound(UInt(bytes.count))
  var stream = [UInt8](repeating: 0, count: Int(count))
  precondition(compress2(&stream, &count, bytes, UInt(bytes.count), 9) == Z_OK)
  // Without the two bytes before and the checksum behind, which make it a zlib stream.
  return Array(stream[2..<Int(count) - 4])
}

/// The CRC-32 of bytes.
func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
  UInt32(crc32(0, Array(bytes), UInt32(bytes.count)))
}

/// A PNG file of rows of 8-bit RGBA with straight alpha.
func makePNG(width: Int, rows: [[UInt8]]) -> [UInt8] {
  let sink = BytesSink()
  do {
    let writer = try PNGWriter(width: width, height: rows.count, to: sink, compressionLevel: 1)
    for row in rows { try writer.write(row: row.span.bytes, alpha: .straight) }
  } catch {
    fatalError("\(error)")
  }
  return sink.bytes
}
