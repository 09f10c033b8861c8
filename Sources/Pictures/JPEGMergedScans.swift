internal import CJPEGRows

/// The coefficients of a JPEG picture in several scans, one row of units of blocks at a time.
///
/// A decoder that goes through the file once has to keep all coefficients until the last scan has come. Here every scan
/// has a place of its own in the file, and all move on together: what is kept is one row, and for each scan 2 KB of its
/// data and its tables. The source is read at all these places by turns.
package final class JPEGMergedScans {
  /// The rows of units of blocks.
  package var rowCount: Int { Int(frame.pointee.rows) }
  /// What was wrong with the file, where that was passed over.
  private(set) var warning: PictureError?
  /// The row that `frame` holds, and its geometry.
  let frame: UnsafeMutablePointer<cjr_frame>
  /// The quantisation table of each component, in zigzag order.
  var quantization: [[UInt16]] { directory.quantization }

  let name: String
  private let header: JPEGHeader
  private let damage: DamagePolicy
  private let directory: JPEGScanDirectory
  private let input: JPEGInput
  private let coefficients: UnsafeMutableBufferPointer<Int16>
  private let windows: UnsafeMutableRawBufferPointer
  private let cursors: UnsafeMutableBufferPointer<cjr_scan>
  /// The scans that are decoded: those of coefficients that nobody wants are left out, as are those that have failed.
  private var live: [Int]
  private var rowsRead = 0
  /// Whether no damage has ended the picture.
  private(set) var isWhole = true

  private static let windowByteCount = 2 << 10

  /// The most bytes that this takes, with as many scans as there may be.
  static func byteCount(for header: JPEGHeader) -> Int {
    let limits = JPEGLimits()
    let scan = windowByteCount + MemoryLayout<cjr_scan>.stride + MemoryLayout<JPEGScan>.stride + 128
    // A table for each scan of other coefficients; for first ones, one for each component; and those not used.
    let tables = limits.scanCount + 4 + 8
    return 2 * coefficientCount(JPEGGeometry(header), header) + limits.scanCount * scan
      + tables * JPEGHuffmanTable.byteCount + objectByteCount
  }

  /// The objects, with the tables of what is known of each coefficient, rounded up.
  private static let objectByteCount = 8 << 10

  private static func coefficientCount(_ geometry: JPEGGeometry, _ header: JPEGHeader) -> Int {
    64 * geometry.columns * header.components.reduce(0) { $0 + $1.across * $1.down }
  }

  /// Finds the scans of the picture that `source` holds.
  ///
  /// - Parameter scale: How large it will be decoded: what is not needed for that is not read.
  /// - Throws: `PictureError` naming file, place and reason, and whatever `source` throws.
  package init(
    _ source: any PositionedSource, header: JPEGHeader, scale: JPEGScale = .full, damage: DamagePolicy = .refuse,
    limits: JPEGLimits = JPEGLimits()
  ) throws {
    directory = try JPEGScanDirectory(source, header: header, damage: damage, limits: limits)
    let geometry = JPEGGeometry(header)
    name = source.name
    self.header = header
    self.damage = damage
    warning = directory.warning
    input = JPEGInput(source)
    coefficients = .allocate(capacity: Self.coefficientCount(geometry, header))
    windows = .allocate(byteCount: Self.windowByteCount * directory.scans.count, alignment: 16)
    frame = .allocate(capacity: 1)
    frame.initialize(to: cjr_frame(header, geometry, scale, coefficients.baseAddress!))
    cursors = .allocate(capacity: directory.scans.count)
    for (index, scan) in directory.scans.enumerated() {
      cursors.initializeElement(at: index, to: cjr_scan(scan, isProgressive: header.isProgressive))
      cursors[index].window = windows.baseAddress?.advanced(by: index * Self.windowByteCount)
        .assumingMemoryBound(to: UInt8.self)
      cursors[index].window_size = Self.windowByteCount
      (cursors[index].user, cursors[index].read) = (input.user, JPEGInput.read)
    }
    live = directory.scans.indices.filter { [directory] index in
      let scan = directory.scans[index]
      return scan.hasDC || geometry.samples(header.components[scan.components[0]], scale) > 1
    }
  }

  deinit {
    cursors.deallocate()
    frame.deallocate()
    windows.deallocate()
    coefficients.deallocate()
  }

  /// Decodes the next row of units of blocks; false after the last one, and where damage leaves nothing to show.
  ///
  /// - Throws: `PictureError` naming file, place and reason, and whatever the source throws.
  package func nextRow() throws -> Bool {
    guard isWhole, rowsRead < rowCount else { return false }
    coefficients.initialize(repeating: 0)
    for index in live {
      let result = cjr_scan_row(&cursors[index], frame, UInt32(rowsRead))
      if result == CJR_DONE { continue }
      let error = self.error(result, index)
      guard damage == .showWhatThereIs, let error = error as? PictureError, error.isOfTheFile else { throw error }
      warning = warning ?? error
      live.removeAll { $0 == index }
      // Without first coefficients, nothing of the picture can be recognised.
      if directory.scans[index].hasDC && directory.scans[index].high == 0 {
        isWhole = false
        return false
      }
    }
    rowsRead += 1
    return true
  }

  /// The error for a number that no file of 8 bits a sample has, in the row that was read last.
  var coefficientOutOfRange: PictureError {
    .damaged(file: name, place: "rows up to \(rowsRead * rowHeight)", reason: "there are coefficients out of range")
  }

  /// Pixels down in a row of units.
  private var rowHeight: Int { JPEGGeometry.blockSide * JPEGGeometry(header).mostDown }

  private func error(_ result: cjr_result, _ index: Int) -> any Error {
    let place = "row \(rowsRead * rowHeight + 1) of \(header.height), in scan \(index + 1) of \(directory.scans.count)"
    switch result {
    case CJR_READ_FAILED: return input.failure!
    case CJR_CUT_OFF where index == directory.scans.count - 1 && directory.warning != nil:
      return PictureError.truncated(file: name, place: place)
    case CJR_CUT_OFF: return PictureError.damaged(file: name, place: place, reason: "the scan ends early")
    default: return PictureError.damaged(file: name, place: place, reason: "there are codes that mean nothing")
    }
  }

  /// The blocks of a component that hold pixels: how many there are in the picture.
  package func blocks(_ component: Int) -> (width: Int, height: Int) {
    JPEGGeometry(header).blocks(header.components[component])
  }

  /// How many rows of blocks of a component a row of units has.
  package func blockRows(_ component: Int) -> Int { header.components[component].down }

  /// The coefficients of a row of blocks of a component, of the row that was read last: 64 for each block that holds
  /// pixels. Valid until the next row is read.
  package func coefficients(_ component: Int, row: Int) -> UnsafeBufferPointer<Int16> {
    let place = frame.pointee[component]
    return UnsafeBufferPointer(
      start: place.blocks + 64 * Int(place.stride) * row, count: 64 * blocks(component).width)
  }
}
