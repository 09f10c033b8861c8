internal import CWebPRows

/// Reads a WebP picture, at its size or smaller, through libwebp.
///
/// Rows are 8-bit RGBA with straight alpha, as they are stored: not turned, and not converted by a colour profile. libwebp
/// gives no rows away before it has them all: the whole picture is in memory at the size that it is read at, which is why
/// reading a smaller one takes less; of a lossless one it is there at full size too. libwebp is loaded into the process
/// when the first row is read.
///
/// A reader belongs to one thread at a time.
public final class WebPRows: PictureRows {
  /// What the file says about its picture.
  public let header: WebPHeader
  /// Pixels in a row.
  public let width: Int
  /// Rows in the picture.
  public let height: Int
  /// What was wrong with the file, where that was passed over; nil as long as nothing was.
  public private(set) var warning: PictureError?

  private let source: any PositionedSource
  private let damage: DamagePolicy
  private var pixels: UnsafeMutableRawBufferPointer?
  private var rowsRead = 0

  /// The most bytes that reading a picture takes at this size, its pixels included.
  public static func byteCount(for header: WebPHeader, width: Int, height: Int) -> Int {
    let full = header.width * header.height
    let pixels = 4 * width * height
    // Of a lossless picture libwebp 1.2.4 keeps all pixels and 16 rows more; of a transparent one all alphas too, which may
    // be coded as such a picture. Beside them it has some rows of blocks, and those that are being scaled. Measured: 0.3 MB
    // for an opaque lossy picture of 3000 x 2000, 15 MB for a transparent one, 23 MB for a lossless one.
    let isKept = header.isLossless || header.hasAlpha
    let kept = (isKept ? 4 * full + 4 * 17 * header.width : 0) + (header.hasAlpha && !header.isLossless ? full : 0)
    return pixels + kept + header.fileByteCount + 128 * header.width + 64 * width + (512 << 10)
  }

  /// Prepares to read the picture that `source` holds; decodes nothing yet.
  ///
  /// - Parameters:
  ///   - header: What `WebPHeader(_:limits:)` said about this picture.
  ///   - width, height: The size to read it at, not larger than it is.
  /// - Throws: `PictureError.needsMemory` where decoding would take more than `limits` allow; `.truncated` for a file that
  ///   has fewer bytes than its pixels must take.
  public init(
    _ source: any PositionedSource, header: WebPHeader, width: Int? = nil, height: Int? = nil,
    damage: DamagePolicy = .refuse, limits: WebPLimits = WebPLimits()
  ) throws {
    self.source = source
    self.header = header
    self.width = width ?? header.width
    self.height = height ?? header.height
    self.damage = damage
    precondition((1...header.width).contains(self.width) && (1...header.height).contains(self.height))
    let needed = Self.byteCount(for: header, width: self.width, height: self.height)
    guard needed <= limits.byteCount else {
      throw PictureError.needsMemory(file: source.name, needed: needed, limit: limits.byteCount)
    }
    if damage == .refuse { try Self.checkPlausible(header, source) }
  }

  deinit {
    pixels?.deallocate()
  }

  /// Gives the next row: `width` pixels of 4 bytes; nil after the last one. The first call decodes them all.
  ///
  /// - Throws: `PictureError.libraryMissing` without libwebp, other `PictureError`s naming file, place and reason, and
  ///   whatever the source throws.
  public func nextRow() throws -> UnsafeRawBufferPointer? {
    if rowsRead == height { return nil }
    let pixels = try self.pixels ?? decode()
    let start = 4 * width * rowsRead
    rowsRead += 1
    return UnsafeRawBufferPointer(rebasing: pixels[start..<start + 4 * width])
  }

  /// The modes of a block of 16 x 16 pixels take more than a bit, as their probabilities are fixed (RFC 6386, 11.5).
  static func checkPlausible(_ header: WebPHeader, _ source: any PositionedSource) throws {
    guard let byteCount = source.byteCount else { return }
    let least = header.isLossless ? 20 : (header.width + 15) / 16 * ((header.height + 15) / 16) / 8
    guard byteCount < max(least, header.fileByteCount) else { return }
    throw PictureError.truncated(
      file: source.name,
      place: "\(byteCount) bytes; \(header.width) x \(header.height) pixels and what is beside them take more")
  }

  /// Says that libwebp, or the library of another name, cannot be used.
  package static func checkLibrary(for file: String, named name: String? = nil) throws {
    guard let problem = name.map({ cwr_problem_of($0) }) ?? cwr_library_problem() else { return }
    throw PictureError.libraryMissing(file: file, library: name ?? "libwebp", reason: String(cString: problem))
  }

  private func decode() throws -> UnsafeMutableRawBufferPointer {
    try Self.checkLibrary(for: source.name)
    let pixels = UnsafeMutableRawBufferPointer.allocate(byteCount: 4 * width * height, alignment: 16)
    self.pixels = pixels
    // What is not decoded is transparent.
    pixels.initializeMemory(as: UInt8.self, repeating: 0)
    let file = UnsafeMutableRawBufferPointer.allocate(byteCount: header.fileByteCount, alignment: 16)
    defer { file.deallocate() }
    let count = try readFile(into: file)
    var rowCount: UInt32 = 0
    let result = cwr_decode(
      file.bindMemory(to: UInt8.self).baseAddress, count, UInt32(width), UInt32(height),
      width != header.width || height != header.height, pixels.bindMemory(to: UInt8.self).baseAddress, &rowCount)
    if result == CWR_DONE, count == file.count { return pixels }
    // What is missing may be behind the pixels.
    let error =
      result == CWR_DONE
      ? PictureError.truncated(file: source.name, place: "what follows the pixels")
      : error(result, rowCount: Int(rowCount))
    guard damage == .showWhatThereIs, error.isOfTheFile else {
      self.pixels = nil
      pixels.deallocate()
      throw error
    }
    warning = error
    // A row may be there in part.
    UnsafeMutableRawBufferPointer(rebasing: pixels[(4 * width * Int(rowCount))...])
      .initializeMemory(as: UInt8.self, repeating: 0)
    return pixels
  }

  private func readFile(into file: UnsafeMutableRawBufferPointer) throws -> Int {
    var count = 0
    while count < file.count {
      let read = try source.read(into: UnsafeMutableRawBufferPointer(rebasing: file[count...]), at: count)
      if read == 0 { break }
      count += read
    }
    return count
  }

  private func error(_ result: cwr_result, rowCount: Int) -> PictureError {
    let place = "row \(rowCount * header.height / height + 1) of \(header.height)"
    switch result {
    case CWR_CUT_OFF: return .truncated(file: source.name, place: place)
    case CWR_NO_MEMORY: return .cannotRead(file: source.name, reason: "no memory for a decoder")
    default: return .damaged(file: source.name, place: place, reason: "the pixels cannot be decoded")
    }
  }
}
