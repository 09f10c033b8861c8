internal import Pictures

/// Where in an archive's file the bytes of an entry are: found once, then read any number of times by any thread.
struct EntryPlace: Sendable {
  let file: ArchiveFile
  /// The entry's name.
  let entry: String
  /// Whether the bytes are deflated.
  let isDeflated: Bool
  /// Where they lie.
  let bytes: Range<Int>
  /// How many they are once inflated.
  let byteCount: Int
  /// Their CRC-32 once inflated.
  let checksum: UInt32

  /// What errors call the entry.
  var name: String { "\(file.name): \(entry)" }

  private static let headerByteCount = 30

  /// Finds the bytes behind the header that the directory leads to.
  ///
  /// - Throws: `CardError` when it is missing, cannot be read, or is not where it should be.
  init(_ entry: String, of archive: OpenRasterArchive) throws(CardError) {
    let description = try archive.entry(entry)
    let file = archive.file
    let name = Array(entry.utf8)
    func damaged(_ reason: String) -> CardError {
      .cannotReadEntry(file: file.name, entry: entry, reason: reason)
    }
    let wanted = Self.headerByteCount + name.count
    guard description.position >= 0, description.position <= file.byteCount - wanted else {
      throw damaged("it begins behind the end of the file")
    }
    let header = try FileBytes(file, at: description.position, count: wanted)
    guard
      header.hasMark(3, 4, at: 0), header.short(at: 8) == description.method, header.short(at: 26) == name.count,
      header.array(Self.headerByteCount, count: name.count) == name
    else {
      throw damaged("what stands before it is not what the list of entries says")
    }
    let start = description.position + wanted + header.short(at: 28)
    guard start <= file.byteCount, description.storedByteCount <= file.byteCount - start else {
      throw damaged("it has more bytes than the file, if the list of entries is right")
    }
    self.file = file
    self.entry = entry
    isDeflated = description.method == ZipEntry.deflated
    bytes = start..<start + description.storedByteCount
    byteCount = description.byteCount
    checksum = description.checksum
  }

  /// An entry that has just been written, and not deflated.
  init(_ entry: ZipWriter.Entry, in file: ArchiveFile) {
    self.file = file
    self.entry = String(decoding: entry.name, as: UTF8.self)
    isDeflated = false
    let start = entry.position + entry.header.count
    bytes = start..<start + entry.byteCount
    byteCount = entry.byteCount
    checksum = UInt32(entry.checksum)
  }

  /// Makes a source at the first byte, for one thread at a time; what it gives is checked when all of it was read.
  ///
  /// - Throws: `CardError` when there is no memory.
  func open() throws -> any PictureSource {
    isDeflated ? try InflatingSource(self) : CheckedSource(self)
  }

  /// The memory that a source takes which can be read again from where one was.
  var positionedByteCount: Int { isDeflated ? InflatingSource.byteCount + BufferedSource.keptByteCount : 0 }

  /// Makes a source for rows. Only inflated bytes are compared with their checksum: pictures have checksums of their own.
  ///
  /// - Throws: `CardError` when there is no memory.
  func openPositioned() throws -> any PositionedSource {
    isDeflated ? BufferedSource(try InflatingSource(self), byteCount: byteCount) : StoredBytes(place: self)
  }
}

/// The bytes of an entry that is not compressed.
private struct StoredBytes: PositionedSource {
  let place: EntryPlace

  var name: String { place.name }
  var byteCount: Int? { place.byteCount }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws -> Int {
    let rest = place.bytes.dropFirst(offset)
    return try place.file.read(
      into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(rest.count)), at: rest.lowerBound)
  }
}

/// An entry that is not compressed, front to back.
private final class CheckedSource: PictureSource {
  private let source: SequentialSource
  private var check: EntryCheck
  private var missing: Int

  init(_ place: EntryPlace) {
    source = SequentialSource(StoredBytes(place: place))
    check = EntryCheck(place)
    missing = place.byteCount
  }

  var name: String { source.name }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    let count = try source.read(into: buffer)
    missing -= count
    try check.take(UnsafeRawBufferPointer(rebasing: buffer[..<count]), isEnd: missing == 0 || count == 0)
    return count
  }
}
