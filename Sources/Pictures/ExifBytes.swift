/// Bytes that may hold EXIF data, taken front to back.
protocol ExifBytes: AnyObject {
  /// The bytes that have not been taken.
  var remaining: Int { get }
  /// Takes some of them, which stay valid until the next call.
  func takeData(_ count: Int) throws -> UnsafeRawBufferPointer
  /// Passes over some.
  func skipData(_ count: Int) throws
}

extension ExifBytes {
  /// Takes the orientation out of EXIF data (EXIF 2.32, 4.5 and 4.6.2; TIFF 6.0, section 2).
  ///
  /// Nil where they do not have it or make no sense: what is said beside a picture cannot make it unreadable. Reads the
  /// first directory only, front to back.
  func takeOrientation() throws -> PictureOrientation? {
    guard remaining >= 8 else { return nil }
    let header = try takeData(8)
    let isBig: Bool
    switch (header[0], header[1]) {
    case (UInt8(ascii: "I"), UInt8(ascii: "I")): isBig = false
    case (UInt8(ascii: "M"), UInt8(ascii: "M")): isBig = true
    default: return nil
    }
    func number(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt16 {
      let raw = bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self)
      return isBig ? UInt16(bigEndian: raw) : UInt16(littleEndian: raw)
    }
    let raw = header.loadUnaligned(fromByteOffset: 4, as: UInt32.self)
    let gap = Int(isBig ? UInt32(bigEndian: raw) : UInt32(littleEndian: raw)) - 8
    guard number(header, 2) == 42, gap >= 0, gap + 2 <= remaining else { return nil }
    try skipData(gap)
    let count = Int(number(try takeData(2), 0))
    for _ in 0..<count where remaining >= 12 {
      let entry = try takeData(12)
      // Tag 274, one number of 16 bits.
      if number(entry, 0) == 274, number(entry, 2) == 3 {
        return UInt8(exactly: number(entry, 8)).flatMap(PictureOrientation.init(rawValue:))
      }
    }
    return nil
  }
}

extension JPEGMarkers: ExifBytes {}
extension PNGChunks: ExifBytes {}
