import CSpng

/// A PNG file of any kind that libspng writes, of rows as the file has them.
func encodePNG(
  width: Int, height: Int, depth: Int, colorType: Int, isInterlaced: Bool = false, palette: [[UInt8]] = [],
  rows: [UInt8]
) -> [UInt8] {
  guard let context = spng_ctx_new(Int32(SPNG_CTX_ENCODER.rawValue)) else { fatalError("no memory") }
  defer { spng_ctx_free(context) }
  spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1)
  var header = spng_ihdr(
    width: UInt32(width), height: UInt32(height), bit_depth: UInt8(depth), color_type: UInt8(colorType),
    compression_method: 0, filter_method: 0, interlace_method: isInterlaced ? 1 : 0)
  precondition(spng_set_ihdr(context, &header) == 0)
  if !palette.isEmpty {
    var colors = spng_plte()
    colors.n_entries = UInt32(palette.count)
    withUnsafeMutableBytes(of: &colors.entries) { entries in
      for (index, color) in palette.enumerated() {
        for channel in 0..<3 { entries[4 * index + channel] = color[channel] }
      }
    }
    precondition(spng_set_plte(context, &colors) == 0)
  }
  let status = spng_encode_image(
    context, rows, rows.count, Int32(SPNG_FMT_RAW.rawValue), Int32(SPNG_ENCODE_FINALIZE.rawValue))
  precondition(status == 0, "libspng: \(status)")
  var (count, error) = (0, 0 as Int32)
  guard let buffer = spng_get_png_buffer(context, &count, &error) else { fatalError("libspng: \(error)") }
  defer { free(buffer) }
  return Array(UnsafeRawBufferPointer(start: buffer, count: count))
}
