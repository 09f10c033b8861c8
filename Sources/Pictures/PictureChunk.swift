public import MemChunks

/// A picture at the size that is wanted, upright, in the way that fits into a pool's budget.
///
/// Where its pixels fit, they are a chunk: made when they are needed, kept as long as there is room. Where they do not,
/// or need not be kept, rows are decoded anew each time that they are asked for; in bands where the picture has to be
/// turned.
public final class PictureChunk: Sendable {
  /// How a picture is read.
  public enum Way: String, Sendable, Hashable {
    /// All pixels are in memory, as a chunk.
    case pixels
    /// Rows are given out as they are decoded.
    case rows
  }

  /// Pixels in an upright row.
  public let width: Int
  /// Upright rows.
  public let height: Int
  /// How it is read.
  public let way: Way
  /// The pixels, 8-bit RGBA with straight alpha, where they are kept.
  public let pixels: BufferChunk?

  private let picture: StoredPicture
  private let pool: ChunkPool
  private let label: String
  private let bandByteCount: Int
  /// What was wrong with the file when the pixels were made last.
  private let note: Note

  private final class Note: @unchecked Sendable {
    // Written and read under the lock only.
    private var warning: PictureError?
    private let lock = Lock()

    func set(_ new: PictureError?) { lock.withLock { warning = new } }
    var value: PictureError? { lock.withLock { warning } }
  }

  /// The bytes by which a chunk of bytes may be larger than what it holds, rounded up: whole pages.
  private static let pageByteCount = 16 << 10

  /// Chooses a way for a picture at an upright size, at its own without; decodes nothing yet.
  ///
  /// - Parameter keepsPixels: Whether pixels are kept where they fit: not, where each row is wanted once.
  /// - Throws: `PictureError.needsMemory` where no way fits into the pool's budget, `.truncated` for a file that is too
  ///   short for what it claims, and what opening it throws.
  public init(
    _ picture: Picture, width: Int? = nil, height: Int? = nil, in pool: ChunkPool, keepsPixels: Bool = true,
    reading: PictureReading = PictureReading()
  ) throws {
    if reading.damage == .refuse { try picture.checkPlausible() }
    let stored = picture.stored(width: width, height: height, reading: reading)
    (self.width, self.height) = stored.uprightSize
    self.picture = stored
    self.pool = pool
    label = picture.name
    let note = Note()
    self.note = note
    let budget = pool.budget.bytes
    let row = 4 * self.width
    let whole = row * self.height + Self.pageByteCount
    if keepsPixels, stored.decoderByteCount + whole <= budget {
      way = .pixels
      bandByteCount = whole
      pixels = .rows(0..<self.height, of: stored, in: pool, label: label) { note.set($0) }
      return
    }
    way = .rows
    pixels = nil
    bandByteCount = min(whole, budget - stored.decoderByteCount - Self.pageByteCount)
    guard bandByteCount >= row else {
      throw PictureError.needsMemory(
        file: label, needed: stored.decoderByteCount + row + Self.pageByteCount, limit: budget)
    }
  }

  /// Calls `body` with each row, from the top, and returns what was wrong with the file where that was passed over.
  ///
  /// What decoding takes counts in the pool meanwhile, and is waited for.
  ///
  /// - Throws: `PictureError`, `ChunkError`, and what `body` throws.
  @discardableResult
  public func forEachRow(_ body: (UnsafeRawBufferPointer) throws -> Void) throws -> PictureError? {
    if let pixels { return try forEachRow(of: pixels, note, body) }
    if !picture.orientation.keepsRowOrder, bandByteCount >= 4 * width * height {
      // Held until the last row, so that others who want room do not have it decoded again between two.
      let note = Note()
      let pixels = BufferChunk.rows(0..<height, of: picture, in: pool, label: label) { note.set($0) }
      defer { pixels.discard() }
      return try forEachRow(of: pixels, note, body)
    }
    let rows = UprightRows(picture, in: pool, label: label, bandByteCount: bandByteCount)
    // Where rows come straight from the decoder, nobody else has it counted.
    if picture.orientation.keepsRowOrder {
      let desk = ValueChunk(in: pool, label: label, size: picture.decoderByteCount + 4 * width) {}
      defer { desk.discard() }
      try desk.withReady { _ in
        while let row = try rows.nextRow() { try body(row) }
      }
    } else {
      while let row = try rows.nextRow() { try body(row) }
    }
    return rows.warning
  }

  private func forEachRow(
    of pixels: BufferChunk, _ note: Note, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws -> PictureError? {
    try pixels.withBytes { bytes in
      try bytes.withUnsafeBytes { bytes in
        for row in 0..<height {
          try body(UnsafeRawBufferPointer(rebasing: bytes[row * 4 * width..<(row + 1) * 4 * width]))
        }
      }
    }
    return note.value
  }

  /// Writes the picture as a PNG file, 8-bit RGBA, with nothing of what its own file says beside the pixels. Returns what
  /// was wrong with that where it was passed over.
  ///
  /// The encoder, `PNGWriter.byteCount(width:)` bytes, is not counted in the pool.
  ///
  /// - Throws: As `forEachRow(_:)`, and what the sink throws.
  @discardableResult
  public func writePNG(
    to sink: any PictureSink, compressionLevel: Int = PNGWriter.defaultCompressionLevel
  ) throws -> PictureError? {
    // Made with the first row, so that a file that has none costs no encoder.
    var writer: PNGWriter?
    return try forEachRow { row in
      let opened = try writer ?? PNGWriter(width: width, height: height, to: sink, compressionLevel: compressionLevel)
      writer = opened
      try opened.write(row: row.bytes, alpha: .straight)
    }
  }
}
