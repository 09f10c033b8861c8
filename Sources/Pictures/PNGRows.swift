internal import CPNGRows

/// The rows of a PNG picture of any kind, one after the other from the top.
///
/// Hides which decoder reads them: `PNGRowReader`, or libspng where a sample has less than 8 bits; and where the picture is
/// interlaced, one of these for each pass, which together take up to twice as long as one that has the whole picture in
/// memory. Small interlaced pictures, for which that would take more memory, are decoded whole. Owns its memory: what stands in `byteCount(for:format:inflater:)` is taken when it is made, and given back when
/// it goes. Belongs to one thread at a time.
public final class PNGRows {
  private enum Decoder {
    case fast(PNGRowReader, memory: UnsafeMutableRawBufferPointer)
    case libspng(PNGReader)
    case interlaced(PNGInterlacedRows)
    case passes(PNGPassRows)
  }

  /// What the file says about its picture.
  public let header: PNGHeader
  /// What rows come as.
  public let format: PNGRowReader.Format
  /// How many rows have been read or skipped.
  public private(set) var rowsRead = 0

  /// What was wrong with some passes, where that was passed over.
  public var warning: PictureError? {
    switch decoder {
    case .interlaced(let reader): reader.warning
    case .passes(let reader): reader.warning
    case .fast, .libspng: nil
    }
  }

  /// Whether damage has taken all that is left of an interlaced picture, where that was passed over.
  var restIsMissing: Bool {
    switch decoder {
    case .interlaced(let reader): reader.restIsMissing
    case .passes(let reader): reader.restIsMissing
    case .fast, .libspng: false
    }
  }

  private let decoder: Decoder

  /// How many sources are open at a time: seven of an interlaced picture, one for each pass, unless it is small.
  public static func sourceCount(for header: PNGHeader) -> Int {
    header.isInterlaced ? PNGInterlacedRows.sourceCount(for: header) : 1
  }

  /// The bytes that are kept between rows, the objects themselves included, but not the sources.
  public static func byteCount(
    for header: PNGHeader, format: PNGRowReader.Format, inflater: PNGRowReader.Inflater
  ) -> Int {
    let decoder: Int
    if PNGRowReader.canRead(header) {
      decoder = PNGRowReader.byteCount(for: header, format: format, inflater: inflater)
    } else if PNGPassRows.canRead(header) {
      decoder = PNGPassRows.byteCount(for: header, format: format, inflater: inflater)
    } else {
      decoder = header.isInterlaced ? PNGInterlacedRows.byteCount(for: header) : header.decoderByteCount
    }
    return decoder + objectByteCount
  }

  /// The bytes that a scratch needs for such a picture.
  public static func scratchByteCount(for header: PNGHeader, format: PNGRowReader.Format) -> Int {
    if PNGRowReader.canRead(header) { return PNGRowReader.scratchByteCount(for: header, format: format) }
    if PNGPassRows.canRead(header) { return PNGPassRows.scratchByteCount(for: header, format: format) }
    return format == Self.decodedFormat(header) ? 0 : format.pixelByteCount * header.width
  }

  /// Prepares to read a picture, up to the first row; up to the last pass where it is interlaced.
  ///
  /// - Parameters:
  ///   - header: What `PNGHeader(_:limits:)` said about this picture.
  ///   - damage: Whether an interlaced picture has the passes that are whole, where others are damaged, see `warning`; all
  ///     else that is damaged is an error, after the rows before it.
  ///   - open: Makes a source at the first byte of the picture; called `sourceCount(for:)` times, and not kept.
  /// - Precondition: The scratch has `scratchByteCount(for:format:)` bytes.
  /// - Throws: `PictureError.changed` when the picture has another header now, other `PictureError`s naming file,
  ///   place and reason, and whatever `open` and its sources throw.
  public init(
    header: PNGHeader, format: PNGRowReader.Format, inflater: PNGRowReader.Inflater, scratch: PNGRowScratch,
    damage: DamagePolicy = .refuse, open: () throws -> any PositionedSource
  ) throws {
    self.header = header
    self.format = format
    if PNGPassRows.canRead(header) {
      decoder = .passes(
        try PNGPassRows(
          header: header, format: format, inflater: inflater, scratch: scratch, damage: damage, open: open))
      return
    }
    if header.isInterlaced {
      decoder = .interlaced(try PNGInterlacedRows(header: header, damage: damage, open: open))
      return
    }
    let source = try open()
    guard PNGRowReader.canRead(header) else {
      let reader = try PNGReader(SequentialSource(source), limits: PNGLimits(side: .max), damage: damage)
      guard reader.header == header else { throw PictureError.changed(file: source.name) }
      decoder = .libspng(reader)
      return
    }
    let memory = UnsafeMutableRawBufferPointer.allocate(
      byteCount: PNGRowReader.byteCount(for: header, format: format, inflater: inflater), alignment: 16)
    do {
      let reader = try PNGRowReader(
        source, header: header, format: format, inflater: inflater, memory: memory, scratch: scratch)
      decoder = .fast(reader, memory: memory)
    } catch {
      memory.deallocate()
      throw error
    }
  }

  deinit {
    if case .fast(_, let memory) = decoder { memory.deallocate() }
  }

  /// Reads the next row: `header.width` pixels in `format`; nil after the last one.
  ///
  /// It is valid until the next call of this object, or of another one with this scratch. Rows of 8 bits need not be
  /// aligned. With the last row, the rest of the file has been checked too.
  ///
  /// - Precondition: The scratch has `scratchByteCount(for:format:)` bytes.
  /// - Throws: `PictureError` naming file, place and reason, and whatever the source throws.
  public func nextRow(_ scratch: PNGRowScratch) throws -> UnsafeRawBufferPointer? {
    let row =
      switch decoder {
      case .fast(let reader, _): try reader.nextRow(scratch)
      case .libspng(let reader): try reader.nextRow().map { given(out: $0.samples, scratch) }
      case .interlaced(let reader): try reader.nextRow().map { given(out: $0, scratch) }
      case .passes(let reader): try reader.nextRow(scratch)
      }
    if row != nil { rowsRead += 1 }
    return row
  }

  /// Passes over the next `count` rows.
  ///
  /// - Precondition: There are that many left, and the scratch is as for `nextRow(_:)`.
  /// - Throws: What `nextRow(_:)` throws.
  public func skipRows(_ count: Int, _ scratch: PNGRowScratch) throws {
    switch decoder {
    case .fast(let reader, _): try reader.skipRows(count, scratch)
    case .libspng(let reader): for _ in 0..<count { _ = try reader.nextRow() }
    case .interlaced(let reader): for _ in 0..<count { _ = try reader.nextRow() }
    case .passes(let reader): for _ in 0..<count { _ = try reader.nextRow(scratch) }
    }
    rowsRead += count
  }

  /// Lets go of the scratch, as `PNGRowReader.park()` does.
  public func park() {
    switch decoder {
    case .fast(let reader, _): reader.park()
    case .passes(let reader): reader.park()
    case .libspng, .interlaced: break
    }
  }

  /// What libspng decodes to: it would cut samples of 16 bits off, not round them.
  private static func decodedFormat(_ header: PNGHeader) -> PNGRowReader.Format {
    header.bitDepth == 16 ? .rgba16 : .rgba8
  }

  /// A row that libspng has decoded, in the format that was asked for.
  private func given(out samples: UnsafeRawBufferPointer, _ scratch: PNGRowScratch) -> UnsafeRawBufferPointer {
    if format == Self.decodedFormat(header) { return samples }
    let memory = scratch.memory[..<Self.scratchByteCount(for: header, format: format)]
    let target = UnsafeMutableRawBufferPointer(rebasing: memory)
    // Nobody's window may be taken for unread any more.
    _ = scratch.take()
    switch format {
    case .rgba8:
      let wide = samples.bindMemory(to: UInt16.self)
      for index in wide.indices { target[index] = Sample.narrowed(wide[index]) }
    case .rgba16:
      var pixels = cpr_pixels()
      (pixels.channels, pixels.sample_bytes) = (4, 1)
      cpr_expand_16(
        &pixels, nil, samples.bindMemory(to: UInt8.self).baseAddress, header.width,
        target.bindMemory(to: UInt16.self).baseAddress)
    }
    return UnsafeRawBufferPointer(target)
  }

  /// What the objects take, rounded up; `RowBenchmarks` counts it.
  private static let objectByteCount = 1 << 10
}
