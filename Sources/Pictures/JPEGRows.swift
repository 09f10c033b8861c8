/// Reads a JPEG picture row by row, at its size or smaller, through libjpeg.
///
/// Rows are 8-bit RGBA, opaque, as they are stored: not turned, and not converted by a colour profile. Inks without one
/// become what light goes through them: white less cyan, times white less black, and so on. The file is read through a
/// window of 8 KB. libjpeg is loaded into the process when the first reader is made.
///
/// A picture in several scans, as a progressive one, is read at all of them by turns, so its source must stand that, as
/// `FileSource` does; one row of blocks exists at a time. At an eighth, what adds nothing to so small a picture is not read,
/// and not checked. A progressive file that ends before its picture is as fine as it could be shows what it has, without
/// the smoothing by which libjpeg would hide that.
///
/// A reader belongs to one thread at a time. Follows ITU-T T.81 and JFIF 1.02; CMYK files are understood as Adobe's
/// programs write them.
public final class JPEGRows: PictureRows {
  /// What the file says about its picture.
  public let header: JPEGHeader
  /// How much smaller rows are than those stored.
  public let scale: JPEGScale
  /// How many rows have been read or skipped.
  public private(set) var rowsRead = 0
  /// What was wrong with the file, where that was passed over; nil as long as nothing was.
  public private(set) var warning: PictureError?

  private let name: String
  private let decoder: JPEGDecoder
  /// What the decoder reads from, where the picture comes in several scans.
  private let merged: JPEGMergedScans?
  private let damage: DamagePolicy
  private let row: UnsafeMutableRawBufferPointer
  /// What reading failed with: libjpeg cannot be taken up behind a damage.
  private var failure: (any Error)?
  /// Whether damage has ended the picture, and the rows that are left are transparent.
  public private(set) var restIsMissing = false

  /// Pixels in a row, at this scale.
  public var width: Int { scale.scaled(header.width) }
  /// Rows in the picture, at this scale.
  public var height: Int { scale.scaled(header.height) }

  /// The most bytes that a reader takes, libjpeg's own and the row that is given out included; not the source.
  ///
  /// Of a picture in several scans, this is with a hundred of them; each takes 3 KB. A picture that needs more, which none
  /// should, is refused.
  public static func byteCount(for header: JPEGHeader, scale: JPEGScale = .full) -> Int {
    let merged = header.hasSeveralScans ? JPEGMergedScans.byteCount(for: header) + JPEGBaselineStream.byteCount : 0
    return objectByteCount + 4 * scale.scaled(header.width) + JPEGDecoder.byteCount(for: header, scale: scale) + merged
  }

  /// The bytes that it takes now, by the same account.
  package var takenByteCount: Int {
    Self.objectByteCount + row.count + JPEGDecoder.windowByteCount + decoder.takenByteCount
  }

  /// The objects themselves, rounded up.
  private static let objectByteCount = 1 << 10

  /// Prepares to read the picture that `source` holds, up to the first row.
  ///
  /// - Parameter header: What `JPEGHeader(_:limits:)` said about this picture.
  /// - Throws: `PictureError.changed` when the picture has another size now, `.libraryMissing` without libjpeg, other
  ///   `PictureError`s naming file, place and reason, and whatever `source` throws. A file that has fewer bytes than its
  ///   pixels must take is refused at once, however many it claims.
  public init(
    _ source: any PositionedSource, header: JPEGHeader, scale: JPEGScale = .full, damage: DamagePolicy = .refuse,
    limits: JPEGLimits = JPEGLimits()
  ) throws {
    if damage == .refuse { try Self.checkPlausible(header, source) }
    if header.hasSeveralScans {
      let merged = try JPEGMergedScans(source, header: header, scale: scale, damage: damage, limits: limits)
      let stream = JPEGBaselineStream(merged, header: header)
      decoder = try JPEGDecoder(stream, header: header, scale: scale, damage: damage)
      self.merged = merged
    } else {
      decoder = try JPEGDecoder(source, header: header, scale: scale, damage: damage)
      merged = nil
    }
    self.header = header
    self.scale = scale
    self.damage = damage
    name = source.name
    row = .allocate(byteCount: 4 * scale.scaled(header.width), alignment: 16)
  }

  deinit {
    row.deallocate()
  }

  /// Decodes the next row: `width` pixels of 4 bytes, red, green, blue and alpha; nil after the last one.
  ///
  /// It is valid until the next call. With the last row, the rest of the file has been checked too. Alpha is 255, but for
  /// rows that a damaged file does not have.
  ///
  /// - Throws: `PictureError` naming file, place and reason, and whatever the source throws; after that always the same.
  public func nextRow() throws -> UnsafeRawBufferPointer? {
    if rowsRead == height { return nil }
    if let failure { throw failure }
    if !restIsMissing { try decodeRow() }
    rowsRead += 1
    return UnsafeRawBufferPointer(row)
  }

  /// Passes over the next `count` rows, which takes as long as reading them.
  ///
  /// - Precondition: There are that many left.
  /// - Throws: What `nextRow()` throws.
  public func skipRows(_ count: Int) throws {
    precondition(count >= 0 && count <= height - rowsRead, "there are not that many rows left")
    for _ in 0..<count { _ = try nextRow() }
  }

  private func decodeRow() throws {
    do {
      try decoder.decodeRow(into: row, place: place)
      // What libjpeg complains of is no more than what the scans it is given have lost.
      if warning == nil { warning = merged?.warning ?? complaint }
    } catch let error as PictureError where damage == .showWhatThereIs && error.isOfTheFile {
      warning = warning ?? merged?.warning ?? error
      restIsMissing = true
      row.initializeMemory(as: UInt8.self, repeating: 0)
    } catch {
      failure = error
      throw error
    }
  }

  private var complaint: PictureError? {
    decoder.complaint.map { .damaged(file: name, place: place, reason: $0) }
  }

  private var place: String { "row \(rowsRead * 8 / scale.eighths + 1) of \(header.height)" }

  /// Refuses a file that is too short for what it claims: the codes of a block take two bits at least; in a progressive
  /// picture, where one code can stand for the end of many blocks, one.
  static func checkPlausible(_ header: JPEGHeader, _ source: any PositionedSource) throws {
    let least = JPEGGeometry(header).blockCount / (header.isProgressive ? 8 : 4)
    guard let byteCount = source.byteCount, byteCount < least else { return }
    throw PictureError.truncated(
      file: source.name,
      place: "\(byteCount) bytes; \(header.width) x \(header.height) pixels take \(least) at least")
  }
}

extension PictureError {
  /// Whether it says something of the picture's file, and not of the system.
  var isOfTheFile: Bool {
    switch self {
    case .truncated, .damaged: true
    default: false
    }
  }
}
