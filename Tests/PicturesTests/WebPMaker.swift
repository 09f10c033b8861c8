import PictureReference
import Pictures
import TestSupport

/// Takes over what C code has allocated.
func taken(_ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int) -> [UInt8] {
  guard let bytes else { fatalError("the reference made nothing") }
  defer { free(bytes) }
  return Array(UnsafeBufferPointer(start: bytes, count: count))
}

/// Makes WebP files for tests, through libwebp's encoder.
struct WebPMaker {
  var width: Int
  var height: Int
  /// Nil for no loss.
  var quality: Float?
  var hasAlpha = false

  /// Slopes with a little noise.
  var pixels: [UInt8] {
    var random = SeededGenerator(seed: UInt64(width))
    return (0..<width * height).flatMap { index -> [UInt8] in
      let (x, y) = (index % width, index / width)
      let noise = UInt8.random(in: 0...7, using: &random)
      let alpha = hasAlpha ? UInt8(255 * x / width) : 255
      return [UInt8(200 * x / width) + noise, UInt8(200 * y / height) + noise, 90 + noise, alpha]
    }
  }

  func encode() -> [UInt8] {
    var count = 0
    return taken(pref_webp(pixels, Int32(width), Int32(height), quality ?? -1, &count), count)
  }

  /// A file of the extended format, with other chunks before and behind the pixels of a simple one.
  static func extended(
    _ file: [UInt8], width: Int, height: Int, before: [UInt8] = [], behind: [UInt8] = [], flags: UInt8
  ) -> [UInt8] {
    func three(_ value: Int) -> [UInt8] { (0..<3).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    let start = chunk("VP8X", [flags, 0, 0, 0] + three(width - 1) + three(height - 1))
    let body = Array("WEBP".utf8) + start + before + file.dropFirst(12) + behind
    return Array("RIFF".utf8) + four(body.count) + body
  }

  static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
    Array(name.utf8) + four(data.count) + data + (data.count % 2 == 1 ? [0] : [])
  }

  static func four(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
}

/// All rows of a WebP file.
func readWebP(_ file: [UInt8], damage: DamagePolicy = .refuse) throws -> [UInt8] {
  let source = BytesSource(file, name: "picture.webp")
  return try readRows(WebPRows(source, header: WebPHeader(source), damage: damage))
}
