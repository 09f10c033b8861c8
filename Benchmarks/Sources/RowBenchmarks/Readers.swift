import CSpng
import Pictures

/// Reads all rows of a picture with the row reader; returns something that depends on them.
func readRows(_ file: [UInt8], _ format: PNGRowReader.Format, _ inflater: PNGRowReader.Inflater) throws -> Int {
  let header = try PNGHeader(BytesSource(file))
  let memory = UnsafeMutableRawBufferPointer.allocate(
    byteCount: PNGRowReader.byteCount(for: header, format: format, inflater: inflater), alignment: 16)
  defer { memory.deallocate() }
  let reader = try PNGRowReader(BytesSource(file), header: header, format: format, inflater: inflater, memory: memory)
  var sum = 0
  while let row = try reader.nextRow() { sum &+= Int(row[0]) }
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
