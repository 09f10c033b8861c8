public import MemChunks

/// Gives a picture upright, row by row, however it is stored.
///
/// Where the order of rows is kept, they come straight from the decoder. Otherwise the picture is decoded once into a
/// `BufferChunk`, or, where that would be larger than it may be, once for each band of rows of the upright picture. If
/// the pool needs the chunk's room between two rows, the picture is decoded again. Nothing of what is said in the file
/// beside the pixels is passed on.
public final class UprightRows: PictureRows {
  /// Pixels in an upright row.
  public let width: Int
  /// Upright rows.
  public let height: Int
  /// What was wrong with the file, where that was passed over; nil as long as nothing was.
  public private(set) var warning: PictureError?
  /// Rows that are kept at a time; 1 where they come straight from the decoder.
  public let bandHeight: Int

  /// What generating a chunk has to say. Written only while it generates, read only while it is held: the pool orders
  /// the two.
  private final class Note: @unchecked Sendable {
    var warning: PictureError?
  }

  private let picture: StoredPicture
  private let pool: ChunkPool
  private let label: String
  private let row: UnsafeMutableRawBufferPointer
  private var rowsRead = 0
  /// There once a row has been asked for, where rows come straight from the decoder.
  private var stored: (any PictureRows)?
  private var band: (rows: Range<Int>, chunk: BufferChunk, note: Note)?

  /// Prepares to give a picture upright; decodes nothing yet.
  ///
  /// - Parameters:
  ///   - pool: Where the pixels are kept that have to be. The decoder counts in it only while such are made: where rows
  ///     come straight from it, the caller counts `picture.decoderByteCount` and one row.
  ///   - bandByteCount: The most bytes of pixels that are kept at a time; a row is kept in any case.
  public init(_ picture: StoredPicture, in pool: ChunkPool, label: String, bandByteCount: Int = .max) {
    self.picture = picture
    self.pool = pool
    self.label = label
    (width, height) = picture.uprightSize
    bandHeight = picture.orientation.keepsRowOrder ? 1 : min(height, max(1, bandByteCount / (4 * width)))
    row = .allocate(byteCount: 4 * width, alignment: 16)
  }

  deinit {
    band?.chunk.discard()
    row.deallocate()
  }

  /// Gives the next row, nil after the last one; it is valid until the next call.
  ///
  /// - Throws: `PictureError` and what opening throws, and where pixels are kept `ChunkError`: without room, or with what
  ///   went wrong inside.
  public func nextRow() throws -> UnsafeRawBufferPointer? {
    if rowsRead == height { return nil }
    if picture.orientation.keepsRowOrder { try streamRow() } else { try copyRow() }
    rowsRead += 1
    if rowsRead == height { finish() }
    return UnsafeRawBufferPointer(row)
  }

  private func streamRow() throws {
    let stored = try self.stored ?? picture.open()
    self.stored = stored
    guard let next = try stored.nextRow() else { preconditionFailure("row \(rowsRead) is not in the picture") }
    if picture.orientation == .mirrored {
      PictureOrientation.mirror(next, into: row)
    } else {
      row.copyMemory(from: next)
    }
    warning = stored.warning
  }

  private func copyRow() throws {
    let band = self.band.flatMap { $0.rows.contains(rowsRead) ? $0 : nil } ?? nextBand()
    try band.chunk.withBytes { bytes in
      bytes.withUnsafeBytes { bytes in
        let start = (rowsRead - band.rows.lowerBound) * row.count
        row.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<start + row.count]))
      }
      warning = warning ?? band.note.warning
    }
  }

  private func nextBand() -> (rows: Range<Int>, chunk: BufferChunk, note: Note) {
    finish()
    let rows = rowsRead..<min(rowsRead + bandHeight, height)
    let note = Note()
    let chunk = BufferChunk.rows(rows, of: picture, in: pool, label: label) { note.warning = $0 }
    band = (rows, chunk, note)
    return (rows, chunk, note)
  }

  /// Lets go of what is not needed any more.
  private func finish() {
    band?.chunk.discard()
    band = nil
    stored = nil
  }
}
