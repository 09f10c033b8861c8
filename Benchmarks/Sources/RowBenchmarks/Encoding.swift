import CSpng
import Foundation

/// A picture encoded through libspng with every level and filter: what the writer's defaults were chosen by.
struct Encoding {
  private static let filters: [(name: String, choice: spng_filter_choice)] = [
    ("none", SPNG_FILTER_CHOICE_NONE), ("sub", SPNG_FILTER_CHOICE_SUB), ("up", SPNG_FILTER_CHOICE_UP),
    ("paeth", SPNG_FILTER_CHOICE_PAETH), ("the best of five", SPNG_FILTER_CHOICE_ALL),
  ]

  let name: String
  private let pixels: [UInt8]
  private let width: Int
  private let height: Int

  /// Takes a PNG file of any kind, whose pixels become 8-bit RGBA.
  init(_ name: String, _ file: [UInt8]) throws {
    self.name = name
    let context = spng_ctx_new(0)
    defer { spng_ctx_free(context) }
    spng_set_png_buffer(context, file, file.count)
    var header = spng_ihdr()
    var count = 0
    try Self.check(spng_get_ihdr(context, &header))
    try Self.check(spng_decoded_image_size(context, Int32(SPNG_FMT_RGBA8.rawValue), &count))
    var pixels = [UInt8](repeating: 0, count: count)
    let flags = Int32(SPNG_DECODE_TRNS.rawValue)
    try Self.check(spng_decode_image(context, &pixels, count, Int32(SPNG_FMT_RGBA8.rawValue), flags))
    self.pixels = pixels
    (width, height) = (Int(header.width), Int(header.height))
  }

  /// Prints, for each level and filter, the bytes and the time, the better one of two runs.
  func print() throws {
    Swift.print("\nEncoding \(name), \(width) x \(height): CPU ns a pixel, and bytes")
    let names = Self.filters.map { $0.name.padding(toLength: 18, withPad: " ", startingAt: 0) }
    Swift.print("level  " + names.joined())
    for level in [1, 2, 3, 4, 5, 6, 9] {
      let results = try Self.filters.map { filter in
        var bytes = 0
        let time =
          try (0..<2).map { _ in
            try milliseconds {
              bytes = try encode(level, filter.choice)
              return bytes
            }.cpu
          }.min() ?? 0
        return String(format: "%7.1f %9d ", 1e6 * time / Double(width * height), bytes)
      }
      Swift.print("\(level)      " + results.joined())
    }
  }

  private func encode(_ level: Int, _ filter: spng_filter_choice) throws -> Int {
    let context = spng_ctx_new(Int32(SPNG_CTX_ENCODER.rawValue))
    defer { spng_ctx_free(context) }
    var count = 0
    try withUnsafeMutablePointer(to: &count) { count in
      let status = spng_set_png_stream(
        context,
        { _, count, _, length in
          count!.assumingMemoryBound(to: Int.self).pointee += length
          return 0
        }, count)
      try Self.check(status)
      var header = spng_ihdr()
      (header.width, header.height, header.bit_depth, header.color_type) = (UInt32(width), UInt32(height), 8, 6)
      try Self.check(spng_set_ihdr(context, &header))
      try Self.check(spng_set_option(context, SPNG_IMG_COMPRESSION_LEVEL, Int32(level)))
      try Self.check(spng_set_option(context, SPNG_FILTER_CHOICE, Int32(filter.rawValue)))
      try Self.check(
        spng_encode_image(
          context, pixels, pixels.count, Int32(SPNG_FMT_PNG.rawValue), Int32(SPNG_ENCODE_FINALIZE.rawValue)))
    }
    return count
  }

  private static func check(_ status: Int32) throws {
    if status != 0 { throw LibspngError(status: status) }
  }
}
