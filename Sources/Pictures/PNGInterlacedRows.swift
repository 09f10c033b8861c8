/// The rows of an interlaced PNG picture from the top down, without the whole picture in memory.
///
/// The seven passes of Adam7 lie one behind the other in the file, and most rows take pixels from several of them. So
/// each pass has a decoder of its own on the same file, passed forward to where the pass begins; all then advance
/// together. A half of the file is decoded twice, a quarter three times and so on: twice the whole in all. To keep the
/// first passes instead would take a quarter of the picture. A picture that is smaller than six decoders is decoded once, and
/// kept.
final class PNGInterlacedRows {
  /// A pass of Adam7 (PNG specification, 8.2): the first pixel that it has, and how far it is to the next ones.
  struct Pass {
    let index, column, row, columnStep, rowStep: Int

    static let all = [
      Pass(index: 0, column: 0, row: 0, columnStep: 8, rowStep: 8),
      Pass(index: 1, column: 4, row: 0, columnStep: 8, rowStep: 8),
      Pass(index: 2, column: 0, row: 4, columnStep: 4, rowStep: 8),
      Pass(index: 3, column: 2, row: 0, columnStep: 4, rowStep: 4),
      Pass(index: 4, column: 0, row: 2, columnStep: 2, rowStep: 4),
      Pass(index: 5, column: 1, row: 0, columnStep: 2, rowStep: 2),
      Pass(index: 6, column: 0, row: 1, columnStep: 1, rowStep: 2),
    ]

    /// The pass as a picture of its own.
    func header(in header: PNGHeader) -> PNGHeader {
      PNGHeader(
        width: (header.width - column + columnStep - 1) / columnStep,
        height: (header.height - row + rowStep - 1) / rowStep, bitDepth: header.bitDepth, colorType: header.colorType,
        isInterlaced: false)
    }

    /// How many bytes of rows and their filters precede the pass.
    func start(in header: PNGHeader) -> Int {
      Self.passes(of: header).prefix { $0.index < index }.reduce(0) { sum, pass in
        let size = pass.header(in: header)
        return sum + size.height * (1 + (size.width * size.colorType.channelCount * size.bitDepth + 7) / 8)
      }
    }

    /// The passes that have pixels in such a picture: small ones lack some.
    static func passes(of header: PNGHeader) -> [Pass] {
      all.filter { $0.column < header.width && $0.row < header.height }
    }
  }

  private let header: PNGHeader
  private let passes: [Pass]
  /// One for each pass, or one for all; nil where its part of the file is damaged and that is passed over.
  private var readers: [PNGReader?] = []
  private let damage: DamagePolicy
  /// What was wrong with the file first, where that was passed over: pixels of passes that it lacks are transparent.
  private(set) var warning: PictureError?
  /// Whether damage has taken all passes.
  var restIsMissing: Bool { readers.count == passes.count && readers.allSatisfy { $0 == nil } }
  /// A row into which all of them decode, or all rows.
  private let pixels: UnsafeMutableRawBufferPointer
  private var rowsRead = 0

  /// The bytes of it; not the sources, of which there are `sourceCount(for:)`.
  static func byteCount(for header: PNGHeader) -> Int {
    sourceCount(for: header) * readerByteCount(header) + keptRowCount(header) * rowByteCount(header)
  }

  /// How many sources it reads at a time.
  static func sourceCount(for header: PNGHeader) -> Int {
    keptRowCount(header) == 1 ? Pass.passes(of: header).count : 1
  }

  private static func rowByteCount(_ header: PNGHeader) -> Int { header.width * (header.bitDepth == 16 ? 8 : 4) }

  /// What libspng takes, see `PNGHeader.decoderByteCount`.
  private static func readerByteCount(_ header: PNGHeader) -> Int { (56 << 10) + 3 * rowByteCount(header) }

  /// How many rows are in memory: all, if that takes less than more decoders.
  private static func keptRowCount(_ header: PNGHeader) -> Int {
    let most = (Pass.passes(of: header).count - 1) * readerByteCount(header)
    return header.height <= most / rowByteCount(header) ? header.height : 1
  }

  /// Goes to the beginning of each pass, which reads the file up to there.
  ///
  /// - Parameter open: Makes a source at the first byte of the picture, once for each pass.
  init(header: PNGHeader, damage: DamagePolicy = .refuse, open: () throws -> any PositionedSource) throws {
    self.header = header
    self.damage = damage
    passes = Pass.passes(of: header)
    pixels = .allocate(byteCount: Self.keptRowCount(header) * Self.rowByteCount(header), alignment: 16)
    for pass in passes.prefix(Self.sourceCount(for: header)) {
      let source = try open()
      // Whoever asks for rows has seen the header, and has refused what is too large.
      let reader = try PNGReader(SequentialSource(source), limits: PNGLimits(side: .max), damage: damage)
      guard reader.header == header else { throw PictureError.changed(file: source.name) }
      // Without the beginning of the first pass there is nothing to show.
      let isNeeded = pass.index == 0
      readers.append(reader)
      do {
        try reader.skip(toPass: pass.index, through: pixels)
      } catch let error as PictureError where !isNeeded && isPassedOver(error) {
        readers[readers.count - 1] = nil
      }
    }
    pixels.initializeMemory(as: UInt8.self, repeating: 0)
  }

  /// Whether damage is passed over; remembers the first.
  private func isPassedOver(_ error: PictureError) -> Bool {
    guard damage == .showWhatThereIs, error.isOfTheFile else { return false }
    warning = warning ?? error
    return true
  }

  deinit {
    pixels.deallocate()
  }

  /// Decodes the next row, 8-bit or 16-bit RGBA as `PNGReader.hasWideSamples` says; nil after the last one. It is valid
  /// until the next call. With the last row, the rest of the file has been checked too.
  func nextRow() throws -> UnsafeRawBufferPointer? {
    if rowsRead == header.height { return nil }
    let keepsAll = readers.count < passes.count
    if !keepsAll { try decodeRow() } else if rowsRead == 0 { try decodeAll() }
    rowsRead += 1
    if rowsRead == header.height { try decode(readers.count - 1, into: pixels) }
    return UnsafeRawBufferPointer(keepsAll ? row(rowsRead - 1) : pixels)
  }

  private func decodeRow() throws {
    // What the row above has left would show where a pass is missing.
    if damage == .showWhatThereIs { pixels.initializeMemory(as: UInt8.self, repeating: 0) }
    for (index, pass) in passes.enumerated() where rowsRead >= pass.row && (rowsRead - pass.row) % pass.rowStep == 0 {
      // Each writes only the pixels that it has; together they are the row.
      try decode(index, into: pixels)
    }
  }

  private func decodeAll() throws {
    for pass in passes {
      for index in stride(from: pass.row, to: header.height, by: pass.rowStep) { try decode(0, into: row(index)) }
    }
  }

  /// Decodes the next row of a reader, or checks the end of the file where there is none left.
  private func decode(_ index: Int, into row: UnsafeMutableRawBufferPointer) throws {
    do {
      _ = try readers[index]?.nextRow(into: row)
    } catch let error as PictureError where isPassedOver(error) {
      readers[index] = nil
    }
  }

  private func row(_ index: Int) -> UnsafeMutableRawBufferPointer {
    let byteCount = Self.rowByteCount(header)
    return UnsafeMutableRawBufferPointer(rebasing: pixels[index * byteCount..<(index + 1) * byteCount])
  }
}
