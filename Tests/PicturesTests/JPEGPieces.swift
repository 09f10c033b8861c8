/// Pieces that JPEG files are made of, right or wrong (ITU-T T.81, B).
enum JPEGPieces {
  static let start: [UInt8] = [0xff, 0xd8]
  static let end: [UInt8] = [0xff, 0xd9]

  static func segment(_ code: UInt8, _ data: [UInt8]) -> [UInt8] {
    [0xff, code] + number(data.count + 2) + data
  }

  static func frame(
    _ code: UInt8, depth: UInt8 = 8, width: Int, height: Int, components: [(name: UInt8, sampling: UInt8)]
  ) -> [UInt8] {
    segment(
      code,
      [depth] + number(height) + number(width) + [UInt8(components.count)]
        + components.flatMap { [$0.name, $0.sampling, 0] })
  }

  /// A segment of EXIF data that says how the picture is turned, behind another entry.
  static func exif(_ orientation: UInt16, isBig: Bool = true) -> [UInt8] {
    func bytes(_ value: Int, _ count: Int) -> [UInt8] {
      let big = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
      return isBig ? big : big.reversed()
    }
    let other = bytes(271, 2) + bytes(2, 2) + bytes(4, 4) + [65, 66, 67, 0]
    let entry = bytes(274, 2) + bytes(3, 2) + bytes(1, 4) + bytes(Int(orientation), 2) + [0, 0]
    let directory = bytes(2, 2) + other + entry + bytes(0, 4)
    // Somewhere behind the header, as writers may put it.
    let gap: [UInt8] = [9, 9]
    return segment(
      0xe1, Array("Exif\0\0".utf8) + Array((isBig ? "MM" : "II").utf8) + bytes(42, 2) + bytes(10, 4) + gap + directory)
  }

  /// A file with other segments right behind its first marker.
  static func inserting(_ segments: [UInt8], into file: [UInt8]) -> [UInt8] {
    Array(file[..<2]) + segments + file[2...]
  }

  /// Where the first scan's segment begins.
  static func firstScan(of file: [UInt8]) -> Int? {
    var at = 2
    while at + 4 <= file.count, file[at] == 0xff {
      if file[at + 1] == 0xda { return at }
      at += 2 + (Int(file[at + 2]) << 8) + Int(file[at + 3])
    }
    return nil
  }

  static func number(_ value: Int) -> [UInt8] {
    [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)]
  }
}
