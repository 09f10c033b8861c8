/// The rows of a PNG picture, 8-bit, as those of other kinds come: with a place of its own to work in.
final class PNGPictureRows: PictureRows {
  private let name: String
  private let rows: PNGRows
  private let scratch: PNGRowScratch
  private let damage: DamagePolicy
  /// What was wrong with all that is behind a row.
  private var failure: PictureError?
  /// What rows that cannot be decoded are: transparent.
  private var missing: UnsafeMutableRawBufferPointer?
  private var rowsGiven = 0

  /// The bytes of it, the sources not included.
  static func byteCount(for header: PNGHeader) -> Int {
    PNGRows.byteCount(for: header, format: .rgba8, inflater: .fast)
      + PNGRows.scratchByteCount(for: header, format: .rgba8)
  }

  /// Prepares to read a picture, as `PNGRows` does. A file that has fewer bytes than its pixels must take is refused at
  /// once, however many it claims.
  init(header: PNGHeader, damage: DamagePolicy, open: () throws -> any PositionedSource) throws {
    let source = try open()
    name = source.name
    if damage == .refuse { try Self.checkPlausible(header, source) }
    scratch = PNGRowScratch(byteCount: PNGRows.scratchByteCount(for: header, format: .rgba8))
    rows = try PNGRows(header: header, format: .rgba8, inflater: .fast, scratch: scratch, damage: damage, open: open)
    self.damage = damage
  }

  deinit {
    missing?.deallocate()
  }

  var width: Int { rows.header.width }
  var height: Int { rows.header.height }
  var warning: PictureError? { failure ?? rows.warning }
  var restIsMissing: Bool { missing != nil || rows.restIsMissing }

  func nextRow() throws -> UnsafeRawBufferPointer? {
    if rowsGiven == height { return nil }
    rowsGiven += 1
    if let missing { return UnsafeRawBufferPointer(missing) }
    do {
      return try rows.nextRow(scratch)
    } catch let error as PictureError where damage == .showWhatThereIs && error.isOfTheFile {
      failure = error
      let missing = UnsafeMutableRawBufferPointer.allocate(byteCount: 4 * width, alignment: 16)
      missing.initializeMemory(as: UInt8.self, repeating: 0)
      self.missing = missing
      return UnsafeRawBufferPointer(missing)
    }
  }

  /// Deflate makes no more than 1 032 bytes of one (RFC 1951: 258 bytes of two bits).
  static func checkPlausible(_ header: PNGHeader, _ source: any PositionedSource) throws {
    let rowBits = header.width.multipliedReportingOverflow(by: header.colorType.channelCount * header.bitDepth)
    let bytes = (rowBits.partialValue / 8).multipliedReportingOverflow(by: header.height)
    guard let byteCount = source.byteCount, !rowBits.overflow, !bytes.overflow else { return }
    let least = bytes.partialValue / 1_032
    guard byteCount < least else { return }
    throw PictureError.truncated(
      file: source.name,
      place: "\(byteCount) bytes; \(header.width) x \(header.height) pixels take \(least) at least")
  }
}
