extension PNGRowReader {
  /// Where a reader works at present, and how far ahead it reads there.
  ///
  /// A reader that shares its scratch row by row would read the same bytes again and again if it filled the window each
  /// time. So it asks for what the rows of one stay will take, and takes the last stay for a measure of the next; one
  /// that goes on beyond is expected to go on as long again.
  struct Desk {
    private let bytesPerRow: Int?
    private var scratch: PNGRowScratch?
    private var taking = 0
    /// The row at which this stay began.
    private var firstRow = 0
    /// How many rows the last stay lasted.
    private var lastStay = 0

    /// What is asked for at a time before the first row. What is not needed there is mostly passed over, not read.
    static let preludeByteCount = 512

    /// Takes how many bytes of the file a row has on average, if that is known.
    init(bytesPerRow: Int?) {
      self.bytesPerRow = bytesPerRow.map { min($0, PNGRowLayout.windowByteCount) }
    }

    /// Goes to a scratch and has chunks read through its window, unless that is where they are.
    mutating func move(
      to scratch: PNGRowScratch, _ chunks: PNGChunks, _ window: UnsafeMutableRawBufferPointer, row: Int
    ) {
      if self.scratch === scratch, scratch.isHeld(taking) { return }
      leave(row: row)
      self.scratch = scratch
      taking = scratch.take()
      chunks.attach(window)
    }

    /// Ends a stay.
    mutating func leave(row: Int) {
      // A stay without a row, as the one in which a reader was made mostly is, says nothing of the next.
      if row > firstRow { lastStay = row - firstRow }
      firstRow = row
      scratch = nil
    }

    /// How much to ask of the source at a time while a row is read, where `rowsWanted` from it on are wanted for sure.
    func readByteCount(row: Int, rowsWanted: Int) -> Int {
      guard let bytesPerRow else { return .max }
      let stayed = row - firstRow
      let rows = max(rowsWanted, lastStay - stayed, stayed)
      // Rows differ, so a little more. Both factors are bounded by the window, which is all that is read at a time.
      return min(rows, PNGRowLayout.windowByteCount) * bytesPerRow * 9 / 8 + 64
    }
  }
}
