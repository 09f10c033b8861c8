internal import CSpng

/// Decodes one PNG file, header first.
///
/// Making a reader reads the header only, so that the size can be asked of a budget before a pixel is decoded. The
/// compressed bytes come through a `PictureSource` in small pieces. A reader decodes once and belongs to one thread at
/// a time. Follows the PNG specification, third edition; gamma and colour profiles are ignored, because most writers
/// of layered documents set neither on purpose.
public final class PNGReader {
  /// What the file says about its picture.
  public let header: PNGHeader

  /// What errors call the file.
  let name: String
  private let context: OpaquePointer
  private let input: Input
  private var scratch: UnsafeMutableRawBufferPointer?
  private var rowsRead = 0
  private var hasBegun = false
  private var isFinished = false

  /// Reads the header of the picture that `source` holds.
  ///
  /// - Throws: `PictureError` for what is not a PNG file or exceeds `limits`, and whatever `source` throws.
  public convenience init(_ source: any PictureSource, limits: PNGLimits = PNGLimits()) throws {
    try self.init(source, limits: limits, damage: .refuse)
  }

  /// Reads the header; where damage is passed over, what stands just before the end of a file that is cut off is decoded
  /// too, before the error that says so.
  init(_ source: any PictureSource, limits: PNGLimits, damage: DamagePolicy) throws {
    guard let context = spng_ctx_new(0) else {
      throw PictureError.cannotRead(file: source.name, reason: "no memory for a decoder")
    }
    let input = Input(source, damage)
    do {
      spng_set_chunk_limits(context, limits.chunkByteCount, limits.cacheByteCount)
      input.attach(to: context)
      var raw = spng_ihdr()
      try input.check(spng_get_ihdr(context, &raw), place: "the header")
      guard let header = PNGHeader(raw) else {
        throw PictureError.damaged(file: source.name, place: "the header", reason: "unknown colour type")
      }
      // Not spng_set_image_limits: its error does not say which size was refused.
      guard header.width <= limits.side, header.height <= limits.side else {
        throw PictureError.tooLarge(
          file: source.name, width: header.width, height: header.height, limit: limits.side)
      }
      self.header = header
    } catch {
      spng_ctx_free(context)
      throw error
    }
    name = source.name
    self.context = context
    self.input = input
  }

  deinit {
    spng_ctx_free(context)
    scratch?.deallocate()
  }

  /// A decoded row: where it belongs, and which of its pixels are there.
  struct Row {
    /// The samples: 8-bit or 16-bit RGBA with straight alpha, for the whole width.
    let samples: UnsafeRawBufferPointer
    /// The row of the picture, from the top.
    let index: Int
    /// The columns that this row of its pass holds; all, unless the picture is interlaced.
    let columns: StrideTo<Int>
  }

  /// Whether rows are decoded to 16 bits a sample, because libspng would cut off the low byte instead of rounding.
  var hasWideSamples: Bool { header.bitDepth == 16 }

  /// Decodes the next row in file order; nil after the last one, when the rest of the file has been checked too.
  func nextRow() throws -> Row? {
    let samples =
      scratch ?? .allocate(byteCount: header.width * (hasWideSamples ? 8 : 4), alignment: 16)
    scratch = samples
    return try nextRow(into: samples)
  }

  /// Decodes the next row in file order into a row of the whole width. Of an interlaced picture only the pixels of its
  /// pass are written, each at its place.
  func nextRow(into samples: UnsafeMutableRawBufferPointer) throws -> Row? {
    if isFinished { return nil }
    try beginIfNeeded()
    var info = spng_row_info()
    // Normally the last row says that it is the last; in an interlaced picture too small for all passes, asking for
    // the row after it does.
    var status = spng_get_row_info(context, &info)
    if status == SPNG_EOI.rawValue {
      try finish()
      return nil
    }
    try input.check(status, place: place)
    status = spng_decode_row(context, samples.baseAddress, samples.count)
    if status == SPNG_EOI.rawValue {
      try finish()
    } else {
      try input.check(status, place: place)
    }
    rowsRead += 1
    let pass = PNGInterlacedRows.Pass.all[Int(info.pass)]
    let (column, step) = header.isInterlaced ? (pass.column, pass.columnStep) : (0, 1)
    return Row(
      samples: UnsafeRawBufferPointer(samples), index: Int(info.row_num),
      columns: stride(from: column, to: header.width, by: step))
  }

  /// Passes over the rows before a pass, 0 to 6, of an interlaced picture; what they hold is left in `samples`.
  func skip(toPass pass: Int, through samples: UnsafeMutableRawBufferPointer) throws {
    try beginIfNeeded()
    while true {
      var info = spng_row_info()
      try input.check(spng_get_row_info(context, &info), place: place)
      if info.pass >= pass { return }
      // Not `spng_decode_row`, which would also put the pixels at their places.
      try input.check(spng_decode_scanline(context, samples.baseAddress, samples.count), place: place)
      rowsRead += 1
    }
  }

  private func beginIfNeeded() throws {
    if hasBegun { return }
    let format = hasWideSamples ? SPNG_FMT_RGBA16 : SPNG_FMT_RGBA8
    let flags = SPNG_DECODE_TRNS.rawValue | SPNG_DECODE_PROGRESSIVE.rawValue
    try input.check(
      spng_decode_image(context, nil, 0, Int32(format.rawValue), Int32(flags)), place: "what precedes the pixels")
    hasBegun = true
  }

  /// Looks for the end mark: a file without it was cut off, though it has all pixels.
  private func finish() throws {
    isFinished = true
    let place = "what follows the pixels"
    try input.check(spng_decode_chunks(context), place: place)
    if input.hasEnded { throw PictureError.truncated(file: name, place: place) }
  }

  private var place: String {
    header.isInterlaced ? "row \(rowsRead + 1) of its passes" : "row \(rowsRead + 1) of \(header.height)"
  }
}

extension PNGReader {
  /// The ICC profile of the picture; nil if it has none, or one that is damaged: what is beside the pixels cannot make them
  /// unreadable.
  ///
  /// - Precondition: Nothing has been decoded by this reader before.
  public func profile() -> [UInt8]? {
    var profile = spng_iccp()
    guard spng_get_iccp(context, &profile) == 0, let bytes = profile.profile else { return nil }
    return Array(UnsafeRawBufferPointer(start: bytes, count: profile.profile_len))
  }
}
