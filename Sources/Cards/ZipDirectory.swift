/// An entry of an archive, as the archive's directory describes it.
struct ZipEntry: Sendable {
  /// How bytes can be stored (zip specification, 4.4.5): all that the format of documents has.
  static let stored = 0
  static let deflated = 8

  /// Where in the file its own header begins.
  var position = 0
  var method = 0
  var isEncrypted = false
  /// CRC-32 of the bytes once inflated.
  var checksum: UInt32 = 0
  /// Bytes in the file.
  var storedByteCount = 0
  /// Bytes once inflated.
  var byteCount = 0
}

/// The list of entries at the end of a zip archive, also with the wide fields of zip64 (zip specification, 4.3.12 to 16).
///
/// Read here and not by a library: of those of Debian 12, libzip brings libcrypto along, which takes 1.6 MB of resident
/// memory by being loaded alone, a tenth of what a rendering takes in all; and minizip does not read wide fields where a
/// `long` has 64 bits.
struct ZipDirectory {
  private let file: ArchiveFile
  /// How many entries it says that it has.
  let entryCount: Int
  /// Where it lies in the file.
  private let bytes: Range<Int>
  /// What stands in the file before the archive, whose positions do not count it.
  private let prefixByteCount: Int

  /// The bytes of the record at the end, without its comment; of the wide one before it, and of what leads there.
  private static let endByteCount = 22
  private static let wideEndByteCount = 56
  private static let locatorByteCount = 20
  private static let headerByteCount = 46

  /// Finds the directory.
  init(_ file: ArchiveFile) throws(CardError) {
    self.file = file
    // A comment may follow the record, and is at most this long.
    let tail = try FileBytes(file, last: Self.endByteCount + 65_535)
    let marks = stride(from: tail.count - Self.endByteCount, through: 0, by: -1).filter { tail.hasMark(5, 6, at: $0) }
    let comments = marks.map { (mark: $0, excess: tail.count - $0 - Self.endByteCount - tail.short(at: $0 + 20)) }
    // A comment may hold anything, also what looks like a record; the record's own ends with the file, unless something
    // has been put behind the archive.
    let found = (comments.first { $0.excess == 0 } ?? comments.first { $0.excess > 0 })?.mark
    guard let found else { throw .cannotOpen(file: file.name, reason: "it is not a zip archive, or it ends early") }
    var count = tail.short(at: found + 10)
    var byteCount = Int(tail.word(at: found + 12))
    var start = Int(tail.word(at: found + 16))
    var end = tail.position + found
    if count == 0xffff || byteCount == 0xffff_ffff || start == 0xffff_ffff,
      let wide = try Self.wideEnd(file, before: end)
    {
      count = wide.bytes.long(at: 32)
      byteCount = wide.bytes.long(at: 40)
      start = wide.bytes.long(at: 48)
      end = wide.position
    }
    guard byteCount <= end, start <= end - byteCount else { throw Self.damaged(file) }
    entryCount = count
    bytes = end - byteCount..<end
    prefixByteCount = end - byteCount - start
  }

  /// The wide record that belongs to an archive whose end record stands at `end`.
  private static func wideEnd(
    _ file: ArchiveFile, before end: Int
  ) throws(CardError) -> (bytes: FileBytes, position: Int)? {
    guard end >= locatorByteCount else { return nil }
    let locator = try FileBytes(file, at: end - locatorByteCount, count: locatorByteCount)
    guard locator.hasMark(6, 7, at: 0) else { return nil }
    // Where the locator says, unless something precedes the archive: then it stands before the locator.
    for position in [locator.long(at: 8), end - locatorByteCount - wideEndByteCount] {
      guard position >= 0, position <= end - wideEndByteCount else { continue }
      let record = try FileBytes(file, at: position, count: wideEndByteCount)
      if record.hasMark(6, 6, at: 0) { return (record, position) }
    }
    throw damaged(file)
  }

  /// Gives every entry, once and in order, with the bytes of its name.
  func forEachEntry(_ body: (ZipEntry, [UInt8]) throws(CardError) -> Void) throws(CardError) {
    var window = try FileBytes(file, at: bytes.lowerBound, count: min(bytes.count, Self.windowByteCount))
    var position = bytes.lowerBound
    for _ in 0..<entryCount {
      var record = try take(Self.headerByteCount, at: position, &window)
      guard window.hasMark(1, 2, at: record) else { throw Self.damaged(file) }
      let nameByteCount = window.short(at: record + 28)
      let extraByteCount = window.short(at: record + 30)
      let commentByteCount = window.short(at: record + 32)
      let wanted = Self.headerByteCount + nameByteCount + extraByteCount
      record = try take(wanted, at: position, &window)
      let name = window.array(record + Self.headerByteCount, count: nameByteCount)
      let extra = window.array(record + Self.headerByteCount + nameByteCount, count: extraByteCount)
      try body(entry(window, record, extra), name)
      position += wanted + commentByteCount
    }
  }

  /// Makes sure that the window holds so many bytes from `position` on, and says where in it.
  private func take(_ count: Int, at position: Int, _ window: inout FileBytes) throws(CardError) -> Int {
    guard position + count <= bytes.upperBound else { throw Self.damaged(file) }
    if position + count > window.position + window.count {
      let wanted = min(max(count, Self.windowByteCount), bytes.upperBound - position)
      window = try FileBytes(file, at: position, count: wanted)
    }
    return position - window.position
  }

  /// Bytes of the directory that are read at a time, where an entry has not more.
  private static let windowByteCount = 8 << 10

  private func entry(_ window: FileBytes, _ record: Int, _ extra: [UInt8]) -> ZipEntry {
    var entry = ZipEntry()
    entry.isEncrypted = window.short(at: record + 8) & 1 != 0
    entry.method = window.short(at: record + 10)
    entry.checksum = window.word(at: record + 16)
    entry.storedByteCount = Int(window.word(at: record + 20))
    entry.byteCount = Int(window.word(at: record + 24))
    entry.position = Int(window.word(at: record + 42))
    var wide = WideFields(extra)
    entry.byteCount = wide.replacing(entry.byteCount)
    entry.storedByteCount = wide.replacing(entry.storedByteCount)
    // May be anywhere, if the list is wrong: whoever goes there looks.
    entry.position = wide.replacing(entry.position) &+ prefixByteCount
    return entry
  }

  private static func damaged(_ file: ArchiveFile) -> CardError {
    .cannotOpen(file: file.name, reason: "the list of its entries is damaged")
  }
}

/// The extra field that holds what does not fit into the usual fields of an entry (zip specification, 4.5.3).
private struct WideFields {
  private var rest: ArraySlice<UInt8>

  init(_ extra: [UInt8]) {
    var fields = extra[...]
    rest = []
    while fields.count >= 4 {
      let kind = Int(fields.removeFirst()) | Int(fields.removeFirst()) << 8
      let count = Int(fields.removeFirst()) | Int(fields.removeFirst()) << 8
      if kind == 1 {
        rest = fields.prefix(count)
        return
      }
      fields = fields.dropFirst(count)
    }
  }

  /// The value of a usual field, or the next wide one where the usual one refers to it.
  mutating func replacing(_ value: Int) -> Int {
    guard value == 0xffff_ffff, rest.count >= 8 else { return value }
    defer { rest = rest.dropFirst(8) }
    return Array(rest.prefix(8)).withUnsafeBytes { LittleEndian.long($0, at: 0) }
  }
}
