internal import CZip
internal import Pictures
internal import Synchronization

/// The zip archive behind a document.
///
/// Entries are read front to back in small pieces, so that no entry is ever in memory as a whole. libzip allows one
/// thread at a time in an archive, so reading holds a lock; nothing that runs under it may use the archive again.
final class OpenRasterArchive: Sendable {
  /// libzip's handle, closed when the archive goes; `lock` makes it safe to share.
  private struct Handle: ~Copyable, @unchecked Sendable {
    let pointer: OpaquePointer

    deinit {
      zip_discard(pointer)
    }
  }

  /// The file's name, as errors give it.
  let file: String
  private let handle: Handle
  private let lock = Mutex(())
  private let indexes: [String: Int]

  /// Opens the archive at `path` and reads the list of its entries.
  init(_ path: BytePath) throws(CardError) {
    var code: Int32 = 0
    guard let pointer = path.withCString({ zip_open($0, ZIP_RDONLY, &code) }) else {
      throw .cannotOpen(file: path.description, reason: zipReason(code))
    }
    handle = Handle(pointer: pointer)
    file = path.description
    indexes = try Self.indexes(of: handle, file: file)
  }

  private static func indexes(of handle: borrowing Handle, file: String) throws(CardError) -> [String: Int] {
    var indexes: [String: Int] = [:]
    for index in 0..<max(0, Int(zip_get_num_entries(handle.pointer, 0))) {
      guard let name = zip_get_name(handle.pointer, UInt64(index), 0) else { continue }
      let entry = String(cString: name)
      guard indexes.updateValue(index, forKey: entry) == nil else {
        throw .duplicateEntry(file: file, entry: entry)
      }
    }
    return indexes
  }

  /// Whether there is an entry of exactly this name.
  func contains(_ entry: String) -> Bool {
    indexes[entry] != nil
  }

  /// Calls `body` with a source at the first byte of an entry.
  ///
  /// - Throws: `CardError` when the entry is missing, encrypted or damaged, and what `body` throws.
  func withEntry<Result>(_ entry: String, _ body: (any PictureSource) throws -> Result) throws -> Result {
    guard let index = indexes[entry].map(UInt64.init) else {
      throw CardError.missingEntry(file: file, entry: entry)
    }
    return try lock.withLock { _ in
      var status = zip_stat_t()
      zip_stat_index(handle.pointer, index, 0, &status)
      guard status.encryption_method == ZIP_EM_NONE else {
        throw CardError.encryptedEntry(file: file, entry: entry)
      }
      guard let stream = zip_fopen_index(handle.pointer, index, 0) else {
        throw CardError.cannotReadEntry(
          file: file, entry: entry, reason: String(cString: zip_strerror(handle.pointer)))
      }
      defer { zip_fclose(stream) }
      return try body(EntrySource(file: file, entry: entry, stream))
    }
  }
}

/// An open entry of an archive as a source of bytes; valid while the entry is open.
private final class EntrySource: PictureSource {
  private let file: String
  private let entry: String
  private let stream: OpaquePointer

  init(file: String, entry: String, _ stream: OpaquePointer) {
    self.file = file
    self.entry = entry
    self.stream = stream
  }

  var name: String { "\(file): \(entry)" }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    guard let start = buffer.baseAddress else { return 0 }
    let count = zip_fread(stream, start, UInt64(buffer.count))
    guard count >= 0 else {
      throw CardError.cannotReadEntry(
        file: file, entry: entry, reason: String(cString: zip_file_strerror(stream)))
    }
    return Int(count)
  }
}

/// What libzip means by an error code.
func zipReason(_ code: Int32) -> String {
  var error = zip_error_t()
  zip_error_init_with_code(&error, code)
  defer { zip_error_fini(&error) }
  return String(cString: zip_error_strerror(&error))
}
