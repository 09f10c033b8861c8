/// The rows of a large interlaced picture of 8 or 16 bits a sample, by a `PNGRowReader` for each pass.
///
/// As `PNGInterlacedRows`, but twice as fast: ISA-L inflates, and what is passed over is neither unfiltered nor widened.
final class PNGPassRows {
  private typealias Pass = PNGInterlacedRows.Pass

  /// What was wrong with the file first, where that was passed over: pixels of passes that it lacks are transparent.
  private(set) var warning: PictureError?
  /// Whether damage has taken all passes.
  var restIsMissing: Bool { readers.allSatisfy { $0 == nil } }

  private let header: PNGHeader
  private let format: PNGRowReader.Format
  private let damage: DamagePolicy
  private let passes: [Pass]
  /// One for each pass; nil where its part of the file is damaged and that is passed over.
  private var readers: [PNGRowReader?] = []
  /// What the readers keep, one after the other, and the row that is put together.
  private let memory: UnsafeMutableRawBufferPointer
  private let row: UnsafeMutableRawBufferPointer
  private var rowsRead = 0

  /// Whether it reads such a picture.
  static func canRead(_ header: PNGHeader) -> Bool {
    header.isInterlaced && header.bitDepth >= 8 && PNGInterlacedRows.sourceCount(for: header) > 1
  }

  /// The bytes of it; not the sources.
  static func byteCount(
    for header: PNGHeader, format: PNGRowReader.Format, inflater: PNGRowReader.Inflater
  ) -> Int {
    let kept = Pass.passes(of: header).reduce(0) { $0 + keptByteCount($1, of: header, format, inflater) }
    return kept + format.pixelByteCount * header.width
  }

  /// The bytes that a scratch needs: the last pass has the longest rows.
  static func scratchByteCount(for header: PNGHeader, format: PNGRowReader.Format) -> Int {
    Pass.passes(of: header).reduce(0) {
      max($0, PNGRowReader.scratchByteCount(for: $1.header(in: header), format: format))
    }
  }

  private static func keptByteCount(
    _ pass: Pass, of header: PNGHeader, _ format: PNGRowReader.Format, _ inflater: PNGRowReader.Inflater
  ) -> Int {
    (PNGRowReader.byteCount(for: pass.header(in: header), format: format, inflater: inflater) + 15) & ~15
  }

  /// Goes to the beginning of each pass, as `PNGInterlacedRows` does.
  init(
    header: PNGHeader, format: PNGRowReader.Format, inflater: PNGRowReader.Inflater, scratch: PNGRowScratch,
    damage: DamagePolicy, open: () throws -> any PositionedSource
  ) throws {
    self.header = header
    self.format = format
    self.damage = damage
    passes = Pass.passes(of: header)
    let byteCount = Self.byteCount(for: header, format: format, inflater: inflater)
    memory = .allocate(byteCount: byteCount, alignment: 16)
    row = UnsafeMutableRawBufferPointer(rebasing: memory.suffix(format.pixelByteCount * header.width))
    row.initializeMemory(as: UInt8.self, repeating: 0)
    var start = 0
    for pass in passes {
      let count = Self.keptByteCount(pass, of: header, format, inflater)
      let kept = UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + count])
      start += count
      do {
        readers.append(
          try PNGRowReader(
            open(), header: header, pass: pass, format: format, inflater: inflater, memory: kept, scratch: scratch))
      } catch let error as PictureError where pass.index > 0 && isPassedOver(error) {
        // Without the beginning of the first pass there is nothing to show.
        readers.append(nil)
      }
    }
  }

  deinit {
    // Inflaters end in their states, so these go last.
    readers = []
    memory.deallocate()
  }

  /// Decodes the next row in the format; nil after the last one. It is valid until the next call. With the last row, the
  /// rest of the file has been checked too.
  func nextRow(_ scratch: PNGRowScratch) throws -> UnsafeRawBufferPointer? {
    if rowsRead == header.height { return nil }
    // What the row above has left would show where a pass is missing.
    if damage == .showWhatThereIs { row.initializeMemory(as: UInt8.self, repeating: 0) }
    for (index, pass) in passes.enumerated() where rowsRead >= pass.row && (rowsRead - pass.row) % pass.rowStep == 0 {
      do {
        if let pixels = try readers[index]?.nextRow(scratch) { place(pixels, pass) }
      } catch let error as PictureError where isPassedOver(error) {
        readers[index] = nil
      }
    }
    rowsRead += 1
    return UnsafeRawBufferPointer(row)
  }

  /// Lets go of the scratch, as `PNGRowReader.park()` does.
  func park() {
    for reader in readers { reader?.park() }
  }

  /// Puts the pixels of a pass where they belong in the row.
  private func place(_ pixels: UnsafeRawBufferPointer, _ pass: Pass) {
    switch format {
    case .rgba8: place(pixels, pass, as: UInt32.self)
    case .rgba16: place(pixels, pass, as: UInt64.self)
    }
  }

  @inline(__always)
  private func place<Pixel: BitwiseCopyable>(
    _ pixels: UnsafeRawBufferPointer, _ pass: Pass, as pixel: Pixel.Type
  ) {
    let size = MemoryLayout<Pixel>.size
    if pass.columnStep == 1 { return row.copyMemory(from: pixels) }
    var target = size * pass.column
    for offset in stride(from: 0, to: pixels.count, by: size) {
      row.storeBytes(of: pixels.loadUnaligned(fromByteOffset: offset, as: pixel), toByteOffset: target, as: pixel)
      target += size * pass.columnStep
    }
  }

  /// Whether damage is passed over; remembers the first.
  private func isPassedOver(_ error: PictureError) -> Bool {
    guard damage == .showWhatThereIs, error.isOfTheFile else { return false }
    warning = warning ?? error
    return true
  }
}
