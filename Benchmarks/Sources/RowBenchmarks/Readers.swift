import CSpng
import Pictures

/// Reads all rows of a picture with the row reader; returns something that depends on them.
///
/// - Parameter isParked: Whether another reader is to have had the scratch before every row.
func readRows(
  _ file: [UInt8], _ format: PNGRowReader.Format, _ inflater: PNGRowReader.Inflater, isParked: Bool = false
) throws -> Int {
  let header = try PNGHeader(BytesSource(file))
  let scratch = PNGRowScratch(byteCount: PNGRows.scratchByteCount(for: header, format: format))
  let reader = try PNGRows(header: header, format: format, inflater: inflater, scratch: scratch) {
    BytesSource(file)
  }
  var sum = 0
  while let row = try reader.nextRow(scratch) {
    sum &+= Int(row[0])
    if isParked { reader.park() }
  }
  return sum
}

/// Reads all rows of a picture with libspng, which has it in memory already.
func readRowsWithLibspng(_ file: [UInt8]) throws -> Int {
  try file.withUnsafeBytes { file in
    let context = spng_ctx_new(0)
    defer { spng_ctx_free(context) }
    spng_set_png_buffer(context, file.baseAddress, file.count)
    let flags = Int32(SPNG_DECODE_TRNS.rawValue | SPNG_DECODE_PROGRESSIVE.rawValue)
    spng_decode_image(context, nil, 0, Int32(SPNG_FMT_RGBA8.rawValue), flags)
    var row = [UInt8](repeating: 0, count: 4 * Photo.side)
    var sum = 0
    var status: Int32
    repeat {
      status = spng_decode_row(context, &row, row.count)
      sum &+= Int(row[0])
    } while status == 0
    guard status == SPNG_EOI.rawValue else { throw LibspngError(status: status) }
    return sum
  }
}

struct LibspngError: Error {
  let status: Int32
}
