internal import MemChunks
internal import Pictures

/// A layer's place between two rows: the inflater's state and the row above.
///
/// The chunk that makes any number of layers fit: freed, it is generated again, and decodes its way back to the row that
/// is wanted.
final class LayerDecoder: MemChunk, @unchecked Sendable {
  private let picture: LayerPicture
  private let inflater: PNGRowReader.Inflater
  /// There once a row has been asked for, until the chunk is freed. Whoever holds the chunk uses it alone.
  private var rows: PNGRows?

  init(_ picture: LayerPicture, _ inflater: PNGRowReader.Inflater, in pool: ChunkPool) {
    self.picture = picture
    self.inflater = inflater
    super.init(in: pool, label: picture.place.name)
  }

  override var size: Int { picture.byteCount(inflater) }

  /// What its rows come as.
  var format: PNGRowReader.Format { picture.format }

  /// Only makes sure that the picture is the one that was planned with. It is opened by the first row: that decodes, and
  /// others need not wait for it to have their room.
  override func generate() throws {
    try picture.place.file.checkUnchanged()
  }

  override func free() {
    rows = nil
  }

  /// Decodes a row of the picture; rows are asked for from the top down. It is valid until the scratch is used again.
  func row(_ index: Int, _ scratch: PNGRowScratch) throws -> UnsafeRawBufferPointer {
    do {
      let rows = try self.rows ?? open(scratch)
      self.rows = rows
      try rows.skipRows(index - rows.rowsRead, scratch)
      guard let row = try rows.nextRow(scratch) else { preconditionFailure("row \(index) is not in the picture") }
      return row
    } catch {
      // What looks like damage may be somebody writing to the file.
      try picture.place.file.checkUnchanged()
      throw error
    }
  }

  /// Lets go of the scratch.
  func park() { rows?.park() }

  private func open(_ scratch: PNGRowScratch) throws -> PNGRows {
    try PNGRows(header: picture.header, format: picture.format, inflater: inflater, scratch: scratch) {
      try picture.place.openPositioned()
    }
  }
}
