internal import Pictures

/// The zip archive behind a document: its entries by name.
///
/// The directory is read once, when the archive is opened. After that any number of threads may read entries.
final class OpenRasterArchive: Sendable {
  /// The most entries that an archive may have, and the most bytes that their names may take together: what a directory
  /// can make a program hold in memory.
  static let entryLimit = 100_000
  static let nameByteLimit = 8 << 20

  let file: ArchiveFile
  /// By the bytes of the name: text compares as equal what differs in bytes.
  private let entries: [[UInt8]: ZipEntry]

  /// The file's name, as errors give it.
  var name: String { file.name }

  /// Opens the archive at `path` and reads the list of its entries.
  init(_ path: BytePath) throws(CardError) {
    let file = try ArchiveFile(path)
    var entries: [[UInt8]: ZipEntry] = [:]
    var byteCount = 0
    let directory = try ZipDirectory(file)
    guard directory.entryCount <= Self.entryLimit else {
      throw .cannotOpen(file: file.name, reason: "it has more than \(Self.entryLimit) entries")
    }
    try directory.forEachEntry { entry, name throws(CardError) in
      byteCount += name.count
      guard byteCount <= Self.nameByteLimit else {
        throw .cannotOpen(
          file: file.name, reason: "the names of its entries are longer than \(Self.nameByteLimit) bytes")
      }
      guard entries.updateValue(entry, forKey: name) == nil else {
        throw .duplicateEntry(file: file.name, entry: String(decoding: name, as: UTF8.self))
      }
    }
    self.file = file
    self.entries = entries
  }

  /// Whether there is an entry of exactly this name.
  func contains(_ name: String) -> Bool {
    entries[Array(name.utf8)] != nil
  }

  /// Finds an entry that can be read.
  ///
  /// - Throws: `CardError` when it is missing, encrypted, or compressed in a way that the format does not have.
  func entry(_ name: String) throws(CardError) -> ZipEntry {
    guard let entry = entries[Array(name.utf8)] else { throw .missingEntry(file: self.name, entry: name) }
    if entry.isEncrypted { throw .encryptedEntry(file: self.name, entry: name) }
    switch entry.method {
    case ZipEntry.deflated: break
    case ZipEntry.stored:
      guard entry.storedByteCount == entry.byteCount else {
        throw .cannotReadEntry(
          file: self.name, entry: name,
          reason: "it has \(entry.byteCount) bytes in \(entry.storedByteCount), and is not compressed")
      }
    default:
      throw .cannotReadEntry(
        file: self.name, entry: name, reason: "it is compressed by method \(entry.method), which is not deflate")
    }
    return entry
  }

  /// Calls `body` with a source at the first byte of an entry.
  ///
  /// - Throws: `CardError` when the entry is missing, encrypted or damaged, and what `body` throws.
  func withEntry<Result>(_ name: String, _ body: (any PictureSource) throws -> Result) throws -> Result {
    try body(EntryPlace(name, of: self).open())
  }
}
