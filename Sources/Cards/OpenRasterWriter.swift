internal import CZip
internal import Pictures

// For malloc, because libzip frees what it is given. Darwin and Musl are not run here.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Writes the archive of an OpenRaster document, entry by entry.
///
/// Follows the file layout specification, 0.0.6: `mimetype` comes first and is stored. Nothing is written before
/// `commit()`, which makes the file under another name and then puts it in its place.
final class OpenRasterWriter {
  private let file: String
  /// libzip's handle; nil once the document is written.
  private var archive: OpaquePointer?
  private var pictures: [PictureEntry] = []

  /// Begins a document that will replace what is at `path`.
  init(_ path: BytePath) throws(CardError) {
    file = path.description
    var code: Int32 = 0
    guard let archive = path.withCString({ zip_open($0, ZIP_CREATE | ZIP_TRUNCATE, &code) }) else {
      throw .cannotWrite(file: path.description, reason: zipReason(code))
    }
    self.archive = archive
    try add("mimetype", "image/openraster", ZIP_CM_STORE)
  }

  deinit {
    if let archive { zip_discard(archive) }
  }

  /// Adds an entry of text, compressed unless it is to be stored.
  func add(_ entry: String, _ text: String, _ method: Int32 = ZIP_CM_DEFLATE) throws(CardError) {
    let bytes = Array(text.utf8)
    // libzip frees the copy when it needs it no more.
    guard let copy = malloc(bytes.count) else { throw .cannotWrite(file: file, reason: "out of memory") }
    bytes.withUnsafeBytes { copy.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
    try add(entry, zip_source_buffer_create(copy, UInt64(bytes.count), 1, nil), method)
  }

  /// Adds a picture whose rows are made when the document is written; it is stored, being compressed in itself.
  func add(
    picture entry: String, width: Int, height: Int, rows: @escaping () throws -> PictureEntry.RowMaker
  ) throws(CardError) {
    let picture = PictureEntry(name: "\(file): \(entry)", width: width, height: height, rows: rows)
    pictures.append(picture)
    try add(entry, picture.makeSource(), ZIP_CM_STORE)
  }

  private func add(_ entry: String, _ source: OpaquePointer?, _ method: Int32) throws(CardError) {
    guard let archive else { preconditionFailure("the document has been written") }
    let index = source.map { zip_file_add(archive, entry, $0, UInt32(ZIP_FL_ENC_UTF_8)) } ?? -1
    guard index >= 0 else {
      zip_source_free(source)
      throw .cannotWrite(file: file, reason: String(cString: zip_strerror(archive)))
    }
    zip_set_file_compression(archive, UInt64(index), method, 0)
  }

  /// Writes all entries and puts the document in its place.
  ///
  /// - Throws: `CardError.cannotWrite`, and what making rows throws; what was at the path is then as it was.
  func commit() throws {
    guard let archive else { preconditionFailure("the document has been written") }
    guard zip_close(archive) == 0 else {
      let reason = String(cString: zip_strerror(archive))
      throw pictures.lazy.compactMap(\.failure).first ?? CardError.cannotWrite(file: file, reason: reason)
    }
    self.archive = nil
  }
}
