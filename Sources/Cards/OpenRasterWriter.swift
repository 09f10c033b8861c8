internal import Pictures

/// Writes the archive of an OpenRaster document, entry by entry.
///
/// Follows the file layout specification, 0.0.6: `mimetype` comes first and is stored. What is written goes to a new
/// file beside the target, which `commit()` puts in its place; a writer that is dropped before that removes it.
final class OpenRasterWriter {
  /// The path asked for, as text.
  var name: String { file.name }
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

  /// Adds a picture that is a PNG file, as it is.
  func add(picture entry: String, file source: any PositionedSource) throws {
    try archive.begin(entry, mostBytes: source.byteCount ?? .max)
    let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 1)
    defer { piece.deallocate() }
    var position = 0
    while true {
      let count = try source.read(into: piece, at: position)
      if count == 0 { break }
      try archive.append(UnsafeRawBufferPointer(rebasing: piece[..<count]))
      position += count
    }
    try archive.end()
  }

  /// Opens what has been written, so that pictures in it can be read while others are added.
  func archiveSoFar() throws(CardError) -> ArchiveFile {
    try ArchiveFile(unfinished: file.unfinishedPath, name: file.name)
  }

  /// Where a picture lies that has been added.
  func place(of entry: String, in written: ArchiveFile) throws(CardError) -> EntryPlace {
    guard let entry = archive.entries.last(where: { $0.name.elementsEqual(entry.utf8) }) else {
      throw .missingEntry(file: name, entry: entry)
    }
    return EntryPlace(entry, in: written)
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
