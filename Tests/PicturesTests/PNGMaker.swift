import CSpng
import Pictures

/// Makes PNG files of every kind for tests, through libspng's encoder: raw samples, palette and transparency as given.
struct PNGMaker {
  var width: Int
  var height: Int
  var depth: Int
  var colorType: PNGHeader.ColorType
  var isInterlaced = false
  var palette: [(red: UInt8, green: UInt8, blue: UInt8)] = []
  /// The alphas of palette entries, or the grey or red, green and blue that are transparent.
  var transparency: [UInt16] = []

  var channels: Int {
    switch colorType {
    case .grayscale, .indexed: 1
    case .grayscaleAlpha: 2
    case .truecolor: 3
    case .truecolorAlpha: 4
    }
  }

  /// Encodes samples in row order, `channels` a pixel, each from 0 to what the depth allows.
  func encode(_ samples: [UInt16]) -> [UInt8] {
    let context = spng_ctx_new(Int32(SPNG_CTX_ENCODER.rawValue))
    defer { spng_ctx_free(context) }
    spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1)
    var header = spng_ihdr(
      width: UInt32(width), height: UInt32(height), bit_depth: UInt8(depth), color_type: colorType.rawValue,
      compression_method: 0, filter_method: 0, interlace_method: isInterlaced ? 1 : 0)
    precondition(spng_set_ihdr(context, &header) == 0)
    setPalette(context)
    setTransparency(context)
    let bytes = pack(samples)
    precondition(
      spng_encode_image(
        context, bytes, bytes.count, Int32(SPNG_FMT_PNG.rawValue), Int32(SPNG_ENCODE_FINALIZE.rawValue)) == 0)
    var count = 0
    var status: Int32 = 0
    let buffer = spng_get_png_buffer(context, &count, &status)
    defer { free(buffer) }
    return Array(UnsafeRawBufferPointer(start: buffer, count: count))
  }

  private func setPalette(_ context: OpaquePointer?) {
    guard !palette.isEmpty else { return }
    var chunk = spng_plte()
    chunk.n_entries = UInt32(palette.count)
    withUnsafeMutableBytes(of: &chunk.entries) { entries in
      for (index, color) in palette.enumerated() {
        entries[4 * index] = color.red
        entries[4 * index + 1] = color.green
        entries[4 * index + 2] = color.blue
      }
    }
    precondition(spng_set_plte(context, &chunk) == 0)
  }

  private func setTransparency(_ context: OpaquePointer?) {
    guard !transparency.isEmpty else { return }
    var chunk = spng_trns()
    switch colorType {
    case .grayscale: chunk.gray = transparency[0]
    case .truecolor: (chunk.red, chunk.green, chunk.blue) = (transparency[0], transparency[1], transparency[2])
    default:
      chunk.n_type3_entries = UInt32(transparency.count)
      withUnsafeMutableBytes(of: &chunk.type3_alpha) { alphas in
        for (index, alpha) in transparency.enumerated() { alphas[index] = UInt8(alpha) }
      }
    }
    precondition(spng_set_trns(context, &chunk) == 0)
  }

  /// Samples as libspng takes them: rows end at whole bytes, 16 bits in the machine's order.
  private func pack(_ samples: [UInt16]) -> [UInt8] {
    if depth == 16 { return samples.withUnsafeBytes { Array($0) } }
    var bytes: [UInt8] = []
    let perRow = width * channels
    for row in 0..<height {
      var bits = 0
      for sample in samples[row * perRow..<(row + 1) * perRow] {
        if bits % 8 == 0 { bytes.append(0) }
        bytes[bytes.count - 1] |= UInt8(sample) << UInt8(8 - depth - bits % 8)
        bits += depth
      }
    }
    return bytes
  }

  /// What the specification makes of a pixel's samples: 8-bit RGBA, straight alpha, rounded to nearest.
  func expected(_ samples: ArraySlice<UInt16>) -> [UInt8] {
    let samples = Array(samples)
    let most = Double((1 << depth) - 1)
    func byte(_ sample: UInt16) -> UInt8 { UInt8((Double(sample) * 255 / most).rounded()) }
    let isHidden = samples == transparency
    switch colorType {
    case .grayscale: return Array(repeating: byte(samples[0]), count: 3) + [isHidden ? 0 : 255]
    case .truecolor: return samples.map(byte) + [isHidden ? 0 : 255]
    case .indexed:
      let index = Int(samples[0])
      let alpha = index < transparency.count ? UInt8(transparency[index]) : 255
      return [palette[index].red, palette[index].green, palette[index].blue, alpha]
    case .grayscaleAlpha: return Array(repeating: byte(samples[0]), count: 3) + [byte(samples[1])]
    case .truecolorAlpha: return samples.map(byte)
    }
  }
}

/// Compressed bytes in memory, handed out a few at a time, front to back or from a position.
final class BytesSource: PictureSource, PositionedSource {
  let name: String
  let byteCount: Int?
  /// How many bytes have been given out in all.
  private(set) var bytesGiven = 0
  private let bytes: [UInt8]
  private var position = 0
  private let pieceByteCount: Int

  init(_ bytes: [UInt8], name: String = "picture.png", pieceByteCount: Int = 1_000) {
    self.bytes = bytes
    self.name = name
    self.pieceByteCount = pieceByteCount
    byteCount = bytes.count
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
    let piece = bytes.dropFirst(offset).prefix(min(buffer.count, pieceByteCount))
    buffer.copyBytes(from: piece)
    bytesGiven += piece.count
    return piece.count
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    let count = read(into: buffer, at: position)
    position += count
    return count
  }
}

/// Decodes a picture as a whole.
func decode(_ source: any PictureSource, alpha: AlphaForm = .straight) throws -> [UInt8] {
  let reader = try PNGReader(source)
  var pixels = [UInt8](repeating: 0xaa, count: reader.header.rgbaByteCount)
  var span = pixels.mutableSpan
  var bytes = span.mutableBytes
  try reader.decode(into: &bytes, alpha: alpha)
  return pixels
}
