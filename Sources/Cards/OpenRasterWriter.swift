internal import Pictures

/// Writes the archive of an OpenRaster document, entry by entry.
///
/// Follows the file layout specification, 0.0.6: `mimetype` comes first and is stored. What is written goes to a new
/// file beside the target, which `commit()` puts in its place; a writer that is dropped before that removes it.
final class OpenRasterWriter {
  private let file: ReplacementFile
  private var archive: ZipWriter

  /// Begins a document that will replace what is at `path`.
  init(_ path: BytePath) throws {
    file = try ReplacementFile(replacing: path)
    archive = ZipWriter(file)
    try archive.add("mimetype", Array("image/openraster".utf8), isDeflated: false)
  }

  /// Adds an entry of text.
  func add(_ entry: String, _ text: String) throws {
    try archive.add(entry, Array(text.utf8), isDeflated: true)
  }

  /// Adds a picture of 8-bit RGBA with straight alpha; it is stored, being compressed in itself.
  ///
  /// - Parameter write: Writes all rows of it.
  func add(
    picture entry: String, width: Int, height: Int, compressionLevel: Int, write: (PNGWriter) throws -> Void
  ) throws {
    // What cannot be compressed becomes longer by 5 bytes in 16 KB; then there are chunks, and what is before pixels.
    let byteCount = (4 * width + 1) * height
    try archive.begin(entry, mostBytes: byteCount + byteCount / 64 + 65_536)
    let sink = EntrySink(self, name: "\(file.name): \(entry)")
    try write(PNGWriter(width: width, height: height, to: sink, compressionLevel: compressionLevel))
    try archive.end()
  }

  /// Writes the list of entries and puts the document in its place.
  ///
  /// - Throws: `PictureError.cannotWrite`; what was at the path is then as it was.
  func commit() throws {
    try archive.finish()
    try file.commit()
  }

  fileprivate func append(_ bytes: UnsafeRawBufferPointer) throws {
    try archive.append(bytes)
  }
}

/// The entry that is being written, as a sink.
private final class EntrySink: PictureSink {
  let name: String
  private let writer: OpenRasterWriter

  init(_ writer: OpenRasterWriter, name: String) {
    self.writer = writer
    self.name = name
  }

  func write(_ buffer: UnsafeRawBufferPointer) throws {
    try writer.append(buffer)
  }
}
