internal import CJPEGRows

/// The segments of a JPEG file, read front to back through a small window (ITU-T T.81, B.1).
///
/// Nothing is buffered beyond the window, which is borrowed. What nobody wants is passed over unread, as far as the source
/// can.
final class JPEGMarkers {
  /// The code of a marker, without the byte 0xff before it.
  enum Code {
    static let start: UInt8 = 0xd8
    static let end: UInt8 = 0xd9
    static let scan: UInt8 = 0xda
    static let quantization: UInt8 = 0xdb
    static let huffman: UInt8 = 0xc4
    static let restartInterval: UInt8 = 0xdd
    static let jfif: UInt8 = 0xe0
    static let exif: UInt8 = 0xe1
    static let profile: UInt8 = 0xe2
    static let adobe: UInt8 = 0xee

    /// Whether a frame begins: SOF0 to SOF15 without DHT, JPG and DAC, which are between them.
    static func isFrame(_ code: UInt8) -> Bool { code & 0xf0 == 0xc0 && ![0xc4, 0xc8, 0xcc].contains(code) }
  }

  /// The fewest bytes that a window may have: the longest piece that is taken at once is a Huffman table.
  static let leastWindowByteCount = 512

  /// The most bytes that may precede the pixels, or stand between scans: profiles and previews have room in it.
  private static let mostBytesBetweenScans = 64 << 20

  /// What errors call the file.
  var name: String { source.name }
  /// The bytes of the segment that have not been taken.
  private(set) var remaining = 0
  /// Where in the file the first byte lies that is not taken.
  private(set) var position = 0
  /// The most that `position` may be while segments are read.
  private var mostPosition = mostBytesBetweenScans

  private let source: any PositionedSource
  private let window: UnsafeMutableRawBufferPointer
  private var unread = 0..<0
  /// Where in the file the segment begins.
  private var start = 0

  /// Begins at the first byte of `source`, with a window that outlives this object.
  init(_ source: any PositionedSource, window: UnsafeMutableRawBufferPointer) throws {
    self.source = source
    self.window = window
    // Compared byte by byte, so that a short file of another kind is not called a JPEG file that ends early.
    for byte in [0xff, Code.start] where try take(1)[0] != byte { throw PictureError.notJPEG(file: name) }
  }

  // MARK: Bytes

  /// Reads more into the window, what is unread being moved to its beginning.
  private func fill() throws {
    window.copyMemory(from: UnsafeRawBufferPointer(rebasing: window[unread]))
    let free = UnsafeMutableRawBufferPointer(rebasing: window[unread.count...])
    let end = position + unread.count
    let count = try source.read(into: free, at: end)
    guard count > 0 else {
      throw end == 0 ? PictureError.empty(file: name) : PictureError.truncated(file: name, place: place)
    }
    unread = 0..<unread.count + min(count, free.count)
  }

  /// Takes the next `count` bytes, which stay valid until the next call.
  private func take(_ count: Int) throws -> UnsafeRawBufferPointer {
    while unread.count < count { try fill() }
    defer { pass(count) }
    return UnsafeRawBufferPointer(rebasing: window[unread.prefix(count)])
  }

  private func pass(_ count: Int) {
    unread.removeFirst(min(count, unread.count))
    position += count
  }

  // MARK: Segments

  /// Begins the next segment; what is left of the one before it is passed over. Returns its code.
  func begin() throws -> UInt8 {
    pass(remaining)
    remaining = 0
    start = position
    guard try take(1)[0] == 0xff else { throw damaged("there is something other than a marker") }
    var code: UInt8 = 0xff
    while code == 0xff {
      guard position < mostPosition else { throw damaged("there is more than 64 MB without pixels") }
      code = try take(1)[0]
    }
    // Markers without data: restarts, start and end, and one for arithmetic coding.
    if (0xd0...0xd9).contains(code) || code == 0x01 { return code }
    guard code != 0 else { throw damaged("there is something other than a marker") }
    let length = Int(UInt16(bigEndian: try take(2).loadUnaligned(as: UInt16.self)))
    guard length >= 2 else { throw damaged("a segment is shorter than its own length") }
    remaining = length - 2
    return code
  }

  /// Takes the next `count` bytes of the segment, which stay valid until the next call.
  ///
  /// - Throws: `PictureError.damaged` where it has fewer.
  func takeData(_ count: Int) throws -> UnsafeRawBufferPointer {
    guard count <= remaining else { throw damaged("a segment ends early") }
    remaining -= count
    return try take(count)
  }

  /// Takes the next byte of the segment.
  func takeByte() throws -> UInt8 { try takeData(1)[0] }

  /// Takes the next two bytes of the segment as a number.
  func takeNumber() throws -> Int { Int(UInt16(bigEndian: try takeData(2).loadUnaligned(as: UInt16.self))) }

  /// Takes all that is left of the segment.
  func takeRest() throws -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(remaining)
    while remaining > 0 { bytes += try takeData(min(remaining, Self.leastWindowByteCount)) }
    return bytes
  }

  /// Passes over bytes of the segment.
  func skipData(_ count: Int) throws {
    guard count <= remaining else { throw damaged("a segment ends early") }
    remaining -= count
    pass(count)
  }

  /// Whether the segment begins with these bytes, which are then taken; where it has fewer, they are not.
  func takeName(_ name: StaticString) throws -> Bool {
    guard name.utf8CodeUnitCount <= remaining else { return false }
    return try takeData(name.utf8CodeUnitCount).elementsEqual(
      UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
  }

  /// Passes over the data of a scan and returns where they end, at the next marker.
  ///
  /// - Throws: `PictureError.truncated` where the file ends before that, unless `isLenient`.
  func skipScan(isLenient: Bool) throws -> Int {
    pass(remaining)
    remaining = 0
    while true {
      let found = cjr_find_marker(window.baseAddress?.advanced(by: unread.lowerBound), unread.count)
      if found < unread.count {
        pass(found)
        mostPosition = position + Self.mostBytesBetweenScans
        return position
      }
      // A last byte 0xff may begin a marker whose code is not read yet.
      pass(max(0, unread.count - 1))
      do {
        try fill()
      } catch PictureError.truncated where isLenient {
        pass(unread.count)
        return position
      }
    }
  }
}

extension JPEGMarkers {
  /// Not the byte that was taken last, but where what it belongs to begins.
  private var place: String { "what begins at byte \(start)" }

  /// The error for a file that breaks the specification here.
  func damaged(_ reason: String) -> PictureError { .damaged(file: name, place: place, reason: reason) }

  /// The error for a file that is right, but of a kind that is not read.
  func unsupported(_ kind: String) -> PictureError { .unsupported(file: name, kind: kind) }
}
