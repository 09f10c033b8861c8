internal import MemChunks
internal import Pictures

/// A layer's place between two rows: the inflater's state and the row above.
///
/// The chunk that makes any number of layers fit: freed, it is generated again, and decodes its way back to the row that
/// is wanted. That is part of generating it, so that whoever looks at what generations take sees what bands cost.
final class LayerDecoder: MemChunk, @unchecked Sendable {
  /// What is about to ask for rows.
  struct Visit {
    /// The first row of the picture that is wanted.
    let row: Int
    let scratch: PNGRowScratch
    let turn: Turn
  }

  private let picture: LayerPicture
  private let inflater: PNGRowReader.Inflater
  /// Where how long rows take is noted, if anybody wants to know.
  private let times: LayerTimes?
  /// There while the chunk is ready. Whoever holds the chunk uses it alone.
  private var rows: PNGRows?
  /// Set by the thread that is at the layer's segment, before it asks for the chunk.
  var visit: Visit?

  init(_ picture: LayerPicture, _ inflater: PNGRowReader.Inflater, _ times: LayerTimes?, in pool: ChunkPool) {
    self.picture = picture
    self.inflater = inflater
    self.times = times
    super.init(in: pool, label: picture.place.name)
  }

  override var size: Int { picture.byteCount(inflater) }

  /// What its rows come as.
  var format: PNGRowReader.Format { picture.format }

  /// Opens the picture, and decodes its way to the visit's row.
  override func generate() throws {
    guard let visit else { preconditionFailure("nobody has said which row is wanted") }
    // All of the part's layers have been promised their room: others may have theirs while this one decodes.
    visit.turn.end()
    try picture.place.file.checkUnchanged()
    try decoding {
      let rows = try timed(times?.noteOpening) {
        try PNGRows(header: picture.header, format: picture.format, inflater: inflater, scratch: visit.scratch) {
          try picture.place.openPositioned()
        }
      }
      try timed(times.map { times in { times.noteSkip(of: visit.row, $0) } }) {
        try rows.skipRows(visit.row, visit.scratch)
      }
      self.rows = rows
    }
  }

  override func free() {
    rows = nil
  }

  /// Decodes a row of the picture; rows are asked for one after the other, from the visit's on. It is valid until the scratch
  /// is used again.
  func row(_ index: Int, _ scratch: PNGRowScratch) throws -> UnsafeRawBufferPointer {
    try decoding {
      guard let rows, rows.rowsRead == index, let row = try timed(note(of: index), { try rows.nextRow(scratch) }) else {
        preconditionFailure("row \(index) is not the next one of the picture")
      }
      return row
    }
  }

  private func note(of row: Int) -> ((UInt64) -> Void)? { times.map { times in { times.note(row: row, $0) } } }

  /// Lets go of the scratch.
  func park() { rows?.park() }

  private func decoding<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      // What looks like damage may be somebody writing to the file.
      try picture.place.file.checkUnchanged()
      throw error
    }
  }
}
