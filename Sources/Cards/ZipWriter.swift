internal import CZlib
package import Pictures

/// Writes a zip archive, one entry after the other, with the wide fields of zip64 where they are needed.
///
/// An entry's size and checksum stand before it, so its header is written again once they are known.
package struct ZipWriter {
  struct Entry {
    var name: [UInt8]
    var position: Int
    var method = ZipEntry.stored
    var checksum = crc32(0, nil, 0)
    var storedByteCount = 0
    var byteCount = 0
    /// Whether its header has wide fields for the sizes.
    var isWide = false
  }

  private let file: ReplacementFile
  private var position = 0
  /// What has been begun, in order.
  private(set) var entries: [Entry] = []

  /// Begins an archive in a new file.
  package init(_ file: ReplacementFile) {
    self.file = file
  }

  /// Writes an entry whole, deflated if it is to be.
  package mutating func add(_ name: String, _ bytes: [UInt8], isDeflated: Bool) throws {
    var entry = Entry(name: Array(name.utf8), position: position)
    let stored = isDeflated ? deflated(bytes) : bytes
    entry.method = isDeflated ? ZipEntry.deflated : ZipEntry.stored
    entry.checksum = bytes.withUnsafeBytes { Self.checksum(entry.checksum, $0) }
    entry.byteCount = bytes.count
    entry.storedByteCount = stored.count
    entries.append(entry)
    try write(entry.header)
    try write(stored)
  }

  /// Begins an entry of at most so many bytes, which is not compressed.
  package mutating func begin(_ name: String, mostBytes: Int) throws {
    let entry = Entry(name: Array(name.utf8), position: position, isWide: mostBytes >= Entry.wide)
    entries.append(entry)
    try write(entry.header)
  }

  /// Writes the next bytes of the entry that was begun.
  package mutating func append(_ bytes: UnsafeRawBufferPointer) throws {
    try file.write(bytes)
    position += bytes.count
    let last = entries.count - 1
    entries[last].checksum = Self.checksum(entries[last].checksum, bytes)
    entries[last].byteCount += bytes.count
    entries[last].storedByteCount += bytes.count
  }

  /// Ends the entry that was begun.
  package func end() throws {
    guard let entry = entries.last else { return }
    try entry.header.withUnsafeBytes { try file.write($0, at: entry.position) }
  }

  /// Writes the list of entries, and so ends the archive.
  package mutating func finish() throws {
    let start = position
    for entry in entries { try write(entry.directoryRecord) }
    let (byteCount, end) = (position - start, position)
    let isWide = entries.count >= 0xffff || start >= Entry.wide || byteCount >= Entry.wide
    var record: [UInt8] = []
    if isWide {
      record += [0x50, 0x4b, 6, 6]
      record.append(44, byteCount: 8)
      for version in [45, 45] { record.append(version, byteCount: 2) }
      record.append(0, byteCount: 8)
      for value in [entries.count, entries.count, byteCount, start] { record.append(value, byteCount: 8) }
      record += [0x50, 0x4b, 6, 7, 0, 0, 0, 0]
      record.append(end, byteCount: 8)
      record.append(1, byteCount: 4)
    }
    record += [0x50, 0x4b, 5, 6, 0, 0, 0, 0]
    for _ in 0..<2 { record.append(isWide ? 0xffff : entries.count, byteCount: 2) }
    for value in [byteCount, start] { record.append(isWide ? Entry.wide : value, byteCount: 4) }
    record.append(0, byteCount: 2)
    try write(record)
  }

  private mutating func write(_ bytes: [UInt8]) throws {
    try bytes.withUnsafeBytes { try file.write($0) }
    position += bytes.count
  }

  private static func checksum(_ checksum: UInt, _ bytes: UnsafeRawBufferPointer) -> UInt {
    crc32_z(checksum, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
  }

  private func deflated(_ bytes: [UInt8]) -> [UInt8] {
    var stream = z_stream()
    let size = Int32(MemoryLayout<z_stream>.size)
    let status = deflateInit2_(
      &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
    precondition(status == Z_OK, "no memory to deflate \(bytes.count) bytes")
    defer { deflateEnd(&stream) }
    let most = Int(deflateBound(&stream, UInt(bytes.count)))
    return [UInt8](unsafeUninitializedCapacity: most) { buffer, count in
      var bytes = bytes
      bytes.withUnsafeMutableBufferPointer { input in
        stream.next_in = input.baseAddress
        stream.avail_in = UInt32(input.count)
        stream.next_out = buffer.baseAddress
        stream.avail_out = UInt32(most)
        let status = deflate(&stream, Z_FINISH)
        precondition(status == Z_STREAM_END, "deflate needs more than it said")
      }
      count = Int(stream.total_out)
    }
  }
}

extension ZipWriter.Entry {
  /// The usual fields' mark for a value that stands in a wide one.
  static let wide = 0xffff_ffff

  /// What stands before the entry.
  var header: [UInt8] {
    var header: [UInt8] = [0x50, 0x4b, 3, 4]
    append(to: &header, isWide: isWide)
    header.append(isWide ? 20 : 0, byteCount: 2)
    header += name
    if isWide {
      for (value, count) in [(1, 2), (16, 2), (byteCount, 8), (storedByteCount, 8)] {
        header.append(value, byteCount: count)
      }
    }
    return header
  }

  /// What the list of entries says of it.
  var directoryRecord: [UInt8] {
    let isWide = isWide || position >= Self.wide
    // Made by a system with Unix names.
    var record: [UInt8] = [0x50, 0x4b, 1, 2, 45, 3]
    append(to: &record, isWide: isWide)
    record.append(isWide ? 28 : 0, byteCount: 2)
    record.append(0, byteCount: 10)
    record.append(isWide ? Self.wide : position, byteCount: 4)
    record += name
    if isWide {
      for (value, count) in [(1, 2), (24, 2), (byteCount, 8), (storedByteCount, 8), (position, 8)] {
        record.append(value, byteCount: count)
      }
    }
    return record
  }

  /// The fields that both have, up to the length of the name.
  private func append(to record: inout [UInt8], isWide: Bool) {
    // The version that a reader needs; names are UTF-8; the first day there is, so that equal documents are equal files.
    let fields = [(isWide ? 45 : 20, 2), (1 << 11, 2), (method, 2), (0, 2), (1 << 5 | 1, 2), (Int(checksum), 4)]
    for (value, count) in fields { record.append(value, byteCount: count) }
    for count in [storedByteCount, byteCount] { record.append(isWide ? Self.wide : count, byteCount: 4) }
    record.append(name.count, byteCount: 2)
  }
}
