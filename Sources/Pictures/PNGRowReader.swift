internal import CPNGRows

/// Reads a PNG picture row by row, as fast as it goes: 8 or 16 bits a sample, not interlaced.
///
/// Where `PNGReader` decodes every kind of PNG through libspng, this reads the kinds that layers and photos are made
/// of in less than half of the time. It inflates with ISA-L where that is installed, and takes filters off with
/// vectors. Pixels do not depend on which library inflates, nor does the row at which a damaged file fails; but where
/// codes leave some bits without a meaning, as no encoder makes them, zlib refuses the file, and ISA-L only those bits, a
/// row sooner or later.
///
/// Between rows it keeps one piece of memory from the caller, `byteCount(for:format:inflater:)` bytes, so that a pool can
/// count it before it exists and free it while the picture waits. All else that it works in is a `PNGRowScratch`, which
/// readers share by turns. A freed reader is made again, and brought to its row by `skipRows(_:_:)`.
///
/// A reader belongs to one thread at a time. Follows the PNG specification, third edition; gamma and colour profiles
/// are ignored, as `PNGReader` does.
public final class PNGRowReader {
  /// What rows come as; alpha is straight, and rows have no gaps.
  public enum Format: Sendable, Hashable {
    /// 4 bytes a pixel: red, green, blue, alpha. Samples of 16 bits are rounded to the nearest.
    case rgba8
    /// 8 bytes a pixel, each sample in the machine's byte order. Samples of 8 bits are multiplied by 257.
    case rgba16

    /// Bytes a pixel.
    public var pixelByteCount: Int { self == .rgba8 ? 4 : 8 }
  }

  /// How compressed pixels are inflated, a choice between time and memory that no pixel shows.
  public enum Inflater: Sendable, Hashable {
    /// zlib, with a state of 41 KB.
    case small
    /// ISA-L, with a state of 87 KB, two to three times as fast; the same as `small` where it is not installed.
    ///
    /// The library is loaded into the process when this is first used, also for asking how many bytes it takes.
    case fast
  }

  /// What the file says about its picture.
  public let header: PNGHeader
  /// What rows come as.
  public let format: Format
  /// How many rows have been read or skipped.
  public private(set) var rowsRead = 0

  /// The pass that is read, where the picture is interlaced; its rows have only the pixels that it has.
  private let pass: PNGInterlacedRows.Pass?
  /// Pixels in a row, and rows.
  private let width, height: Int
  private let chunks: PNGChunks
  private let colors: PNGColors
  private let compressed: PNGPixelStream
  private let layout: PNGRowLayout
  private let kept: PNGRowLayout.Kept
  private var desk: Desk
  /// What reading failed with: a stream cannot be taken up behind a damage.
  private var failure: (any Error)?

  /// Whether a picture is of a kind that this reads; `PNGReader` reads the others.
  public static func canRead(_ header: PNGHeader) -> Bool {
    header.bitDepth >= 8 && !header.isInterlaced
  }

  /// The bytes that a reader keeps between rows: the inflater's state and one row as the file has it.
  ///
  /// What is not in it is the source's own, and less than 1 KB of the reader itself.
  public static func byteCount(for header: PNGHeader, format: Format, inflater: Inflater) -> Int {
    PNGRowLayout(header, format: format, inflater: inflater.kind).byteCount
  }

  /// The bytes that a scratch needs for such a picture: 8 KB of compressed bytes, a row as it is inflated, and one as it
  /// is given out if that differs.
  public static func scratchByteCount(for header: PNGHeader, format: Format) -> Int {
    PNGRowLayout(header, format: format, inflater: CPR_SMALL).scratchByteCount
  }

  /// Prepares to read the picture that `source` holds, up to the first row.
  ///
  /// - Parameters:
  ///   - header: What `PNGHeader(_:limits:)` said about this picture.
  ///   - memory: At least `byteCount(for:format:inflater:)` bytes, aligned to 16, for nobody else's use until the
  ///     reader is gone. What they hold does not matter.
  ///   - scratch: Where to work now; any may be given later.
  /// - Precondition: `canRead(header)`, and the scratch has `scratchByteCount(for:format:)` bytes.
  /// - Throws: `PictureError.changed` when the picture has another header now, other `PictureError`s naming file,
  ///   place and reason, and whatever `source` throws.
  public convenience init(
    _ source: any PositionedSource, header: PNGHeader, format: Format, inflater: Inflater,
    memory: UnsafeMutableRawBufferPointer, scratch: PNGRowScratch
  ) throws {
    precondition(Self.canRead(header), "interlaced pictures and low bit depths are not read by this")
    try self.init(
      source, header: header, pass: nil, format: format, inflater: inflater, memory: memory, scratch: scratch)
  }

  /// Prepares to read one pass of an interlaced picture, which inflates the file up to there.
  ///
  /// - Precondition: Samples have 8 bits or more, and the memories are as large as for the pass as a picture.
  convenience init(
    _ source: any PositionedSource, header: PNGHeader, pass: PNGInterlacedRows.Pass, format: Format,
    inflater: Inflater, memory: UnsafeMutableRawBufferPointer, scratch: PNGRowScratch
  ) throws {
    try self.init(
      source, header: header, pass: pass as PNGInterlacedRows.Pass?, format: format, inflater: inflater, memory: memory,
      scratch: scratch)
    try skip(pass.start(in: header), scratch)
  }

  private init(
    _ source: any PositionedSource, header: PNGHeader, pass: PNGInterlacedRows.Pass?, format: Format,
    inflater: Inflater, memory: UnsafeMutableRawBufferPointer, scratch: PNGRowScratch
  ) throws {
    let size = pass?.header(in: header) ?? header
    self.pass = pass
    (width, height) = (size.width, size.height)
    layout = PNGRowLayout(size, format: format, inflater: inflater.kind)
    kept = layout.kept(memory)
    chunks = PNGChunks(source, inflater: inflater.kind)
    chunks.mostBytes = PNGRowLayout(header, format: format, inflater: inflater.kind).mostFileBytes
    chunks.readByteCount = Desk.preludeByteCount
    desk = Desk(bytesPerRow: source.byteCount.map { $0 / header.height })
    desk.move(to: scratch, chunks, layout.areas(of: scratch).window, row: 0)
    guard try chunks.takeHeader(limits: PNGLimits(side: .max)) == header else {
      throw PictureError.changed(file: source.name)
    }
    colors = try PNGColors(header, from: chunks, palette: kept.palette)
    compressed = try PNGPixelStream(chunks, inflater: inflater.kind, state: kept.state)
    self.header = header
    self.format = format
  }

  /// Reads the next row: `header.width` pixels in `format`; nil after the last one.
  ///
  /// It is valid until the next call of this reader, or of another one with this scratch. Rows of 8 bits need not be
  /// aligned. With the last row, the rest of the file has been checked too: a reader that is dropped earlier knows
  /// nothing of what it has not reached.
  ///
  /// - Precondition: The scratch has `scratchByteCount(for:format:)` bytes.
  /// - Throws: `PictureError` naming file, place and reason, and whatever the source throws; after that always the same.
  public func nextRow(_ scratch: PNGRowScratch) throws -> UnsafeRawBufferPointer? {
    if rowsRead == height { return nil }
    let areas = try advance(scratch, rowsWanted: 1)
    guard let target = areas.expanded.baseAddress, !areas.expanded.isEmpty else {
      return UnsafeRawBufferPointer(start: kept.row, count: layout.rowByteCount)
    }
    let palette = kept.palette.baseAddress?.assumingMemoryBound(to: UInt8.self)
    withUnsafePointer(to: colors.pixels) { pixels in
      switch format {
      case .rgba8:
        cpr_expand_8(pixels, palette, kept.row, width, target.assumingMemoryBound(to: UInt8.self))
      case .rgba16:
        cpr_expand_16(pixels, palette, kept.row, width, target.assumingMemoryBound(to: UInt16.self))
      }
    }
    return UnsafeRawBufferPointer(start: target, count: format.pixelByteCount * width)
  }

  /// Passes over the next `count` rows, which takes as long as reading them, but for widening their pixels.
  ///
  /// - Precondition: There are that many left, and the scratch is as for `nextRow(_:)`.
  /// - Throws: What `nextRow(_:)` throws.
  public func skipRows(_ count: Int, _ scratch: PNGRowScratch) throws {
    precondition(count >= 0 && count <= height - rowsRead, "there are not that many rows left")
    for left in (0..<count).reversed() { _ = try advance(scratch, rowsWanted: left + 1) }
  }

  /// Lets go of the scratch: what was read ahead of the rows is forgotten, and read again when it is wanted.
  ///
  /// That another reader works in the scratch, or this one in another, is noticed without it.
  public func park() {
    desk.leave(row: rowsRead)
  }

  /// Inflates the next row and takes its filter off; `rowsWanted` is how many are wanted for sure, with this one.
  private func advance(_ scratch: PNGRowScratch, rowsWanted: Int) throws -> PNGRowLayout.Scratch {
    if let failure { throw failure }
    let areas = layout.areas(of: scratch)
    do {
      desk.move(to: scratch, chunks, areas.window, row: rowsRead)
      chunks.readByteCount = desk.readByteCount(row: rowsRead, rowsWanted: rowsWanted)
      chunks.stage = .row(rowInPicture + 1, of: header.height)
      let filter = areas.filtered - 1
      try compressed.read(1 + layout.rowByteCount, into: filter)
      guard
        cpr_unfilter(
          UInt32(filter.pointee), areas.filtered, kept.row, layout.rowByteCount, UInt32(layout.pixelByteCount))
      else {
        throw chunks.damaged("there is no filter \(filter.pointee)")
      }
      if rowsRead + 1 == height, isLastPass { try finish() }
    } catch {
      failure = error
      throw error
    }
    rowsRead += 1
    return areas
  }

  private var rowInPicture: Int { (pass?.row ?? 0) + rowsRead * (pass?.rowStep ?? 1) }

  private var isLastPass: Bool {
    pass == nil || pass?.index == PNGInterlacedRows.Pass.passes(of: header).last?.index
  }

  /// Inflates bytes that nobody looks at.
  private func skip(_ byteCount: Int, _ scratch: PNGRowScratch) throws {
    let areas = layout.areas(of: scratch)
    desk.move(to: scratch, chunks, areas.window, row: 0)
    chunks.readByteCount = .max
    var left = byteCount
    while left > 0 {
      let count = min(left, 1 + layout.rowByteCount)
      try compressed.read(count, into: areas.filtered - 1)
      left -= count
    }
  }

  /// Checks what follows the pixels, up to the end mark: a file without it was cut off, though it has all pixels.
  private func finish() throws {
    try compressed.finish()
    chunks.stage = .epilogue
    while chunks.kind != .end {
      if chunks.kind.isCritical { throw chunks.damaged("unexpected \(chunks.name(chunks.kind))") }
      chunks.skip()
      try chunks.begin()
    }
    guard chunks.remaining == 0 else { throw chunks.damaged("the end mark has data") }
    try chunks.end()
  }
}

extension PNGRowReader.Inflater {
  var kind: cpr_inflater { self == .fast ? CPR_FAST : CPR_SMALL }
}
