internal import CSpng

/// Encodes one PNG file row by row: 8-bit RGBA, not interlaced.
///
/// The encoder holds its compressor and some rows, `byteCount(width:)`, never the picture. A writer belongs to one
/// thread at a time. Follows the PNG specification, third edition.
public final class PNGWriter {
  /// Pixels in a row.
  public let width: Int
  /// Rows in the picture.
  public let height: Int

  private let context: OpaquePointer
  private let output: Output
  private var straightRow: [UInt8]
  private var rowsWritten = 0

  /// The compression that is used unless another is asked for: zlib's level 4, the last before searching gets dear.
  ///
  /// On composed documents and a photo, and with the one filter that this writer uses, it takes a fifth to little more
  /// than a third of the time of level 6 with libspng's choice among five filters, and makes files of 95 to 112 in 100
  /// of their size. `RowBenchmarks` measures levels and filters.
  public static let defaultCompressionLevel = 4

  /// The bytes that writing takes for a picture of so many pixels a row, whatever its height and compression; the
  /// sink's own not included.
  ///
  /// Measured with libspng 0.7.3 and zlib 1.2.13: 274 KB of compressor, and four rows.
  public static func byteCount(width: Int) -> Int { (280 << 10) + 4 * 4 * width }

  /// Begins a picture and writes its header to `sink`.
  ///
  /// - Parameter compressionLevel: zlib's, from 0 (none) to 9 (slowest).
  /// - Precondition: Width and height are positive and fit in 31 bits.
  /// - Throws: `PictureError.cannotWrite`, and whatever `sink` throws.
  public init(
    width: Int, height: Int, to sink: any PictureSink, compressionLevel: Int = PNGWriter.defaultCompressionLevel
  ) throws {
    precondition(width > 0 && height > 0 && width <= Int32.max && height <= Int32.max)
    guard let context = spng_ctx_new(Int32(SPNG_CTX_ENCODER.rawValue)) else {
      throw PictureError.cannotWrite(file: sink.name, reason: "no memory for an encoder")
    }
    self.width = width
    self.height = height
    self.context = context
    output = Output(sink)
    straightRow = [UInt8](repeating: 0, count: 4 * width)
    output.attach(to: context)
    spng_set_option(context, SPNG_IMG_COMPRESSION_LEVEL, Int32(compressionLevel))
    // To choose the best of five filters for each row takes longer than to compress it at this level, and makes files
    // smaller by 8 in 100 at most, sometimes larger. Without compression a filter is of no use.
    let filter = compressionLevel > 0 ? SPNG_FILTER_CHOICE_UP : SPNG_FILTER_CHOICE_NONE
    spng_set_option(context, SPNG_FILTER_CHOICE, Int32(filter.rawValue))
    var header = spng_ihdr(
      width: UInt32(width), height: UInt32(height), bit_depth: 8, color_type: 6, compression_method: 0,
      filter_method: 0, interlace_method: 0)
    try output.check(spng_set_ihdr(context, &header))
    let flags = SPNG_ENCODE_PROGRESSIVE.rawValue | SPNG_ENCODE_FINALIZE.rawValue
    try output.check(spng_encode_image(context, nil, 0, Int32(SPNG_FMT_PNG.rawValue), Int32(flags)))
  }

  deinit {
    spng_ctx_free(context)
  }

  /// Whether all rows have been written, and with them the end of the file.
  public var isComplete: Bool { rowsWritten == height }

  /// Encodes the next row: `width` pixels of 8-bit RGBA with straight or premultiplied alpha.
  ///
  /// Premultiplied colour is divided by alpha and rounded to nearest; where alpha is 0 it becomes 0.
  ///
  /// - Precondition: `row` has `4 * width` bytes, and the picture is not complete.
  /// - Throws: `PictureError.cannotWrite`, and whatever the sink throws.
  public func write(row: RawSpan, alpha: AlphaForm) throws {
    precondition(row.byteCount == 4 * width && !isComplete)
    try row.withUnsafeBytes { row in
      switch alpha {
      case .straight: try encode(row)
      case .premultiplied:
        unpremultiply(row)
        try straightRow.withUnsafeBytes { try encode($0) }
      }
    }
  }

  private func unpremultiply(_ row: UnsafeRawBufferPointer) {
    straightRow.withUnsafeMutableBytes { straight in
      for index in stride(from: 0, to: row.count, by: 4) {
        let alpha = row[index + 3]
        for channel in index..<index + 3 {
          straight[channel] = Sample.unpremultiplied(row[channel], alpha)
        }
        straight[index + 3] = alpha
      }
    }
  }

  private func encode(_ row: UnsafeRawBufferPointer) throws {
    let status = spng_encode_row(context, row.baseAddress, row.count)
    if status != SPNG_EOI.rawValue { try output.check(Int32(status)) }
    rowsWritten += 1
  }
}
