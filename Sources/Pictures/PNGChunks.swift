internal import CPNGRows

/// The chunks of a PNG file, read front to back through a small window (PNG specification, 5).
///
/// Nothing is buffered beyond the window, which is borrowed: what it holds can be forgotten at any time and is read
/// again. What nobody wants is passed over in place. How much may be read in all is bounded too, because a few bytes of
/// an archive can unfold to any number of empty chunks.
final class PNGChunks {
  /// The name of a chunk: four letters.
  struct Kind: Equatable {
    let code: UInt32

    static let header = Kind(code: 0x4948_4452)
    static let palette = Kind(code: 0x504c_5445)
    static let transparency = Kind(code: 0x7452_4e53)
    static let pixels = Kind(code: 0x4944_4154)
    static let end = Kind(code: 0x4945_4e44)

    /// Whether a decoder that does not know it must give up: its first letter is a capital.
    var isCritical: Bool { code & 0x2000_0000 == 0 }

    var letters: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: code >> (24 - 8 * $0)) } }
  }

  /// The fewest bytes that a window may have.
  static let leastWindowByteCount = 64

  /// Where in the picture the reader is.
  var stage = Stage.header
  /// The most bytes that the file may have, up to its end mark.
  var mostBytes = Int.max
  /// How many bytes are asked of the source at a time, as far as the window has room.
  var readByteCount = Int.max
  /// The chunk that was begun last.
  private(set) var kind = Kind.header
  /// The bytes of its data that have not been taken.
  private(set) var remaining = 0

  private let source: any PositionedSource
  private let inflater: cpr_inflater
  private var window = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  /// The part of the window that was read from the source and is taken by nobody yet.
  private var unread = 0..<0
  /// Where in the file the first byte lies that is not taken.
  private var position = 0
  /// Where in the file the chunk begins.
  private var start = 0
  private var checksum: UInt32 = 0

  /// Begins at the first byte of `source`, with the library that is to compute checksums; `attach(_:)` comes next.
  init(_ source: any PositionedSource, inflater: cpr_inflater) {
    self.source = source
    self.inflater = inflater
  }

  /// Reads through another window from now on, or the same again, and forgets what the last one held.
  func attach(_ window: UnsafeMutableRawBufferPointer) {
    self.window = window
    unread = 0..<0
  }

  // MARK: Bytes

  /// Reads more into a window of which nothing is unread, or moves what is unread to its beginning first.
  private func fill() throws {
    guard position <= mostBytes else { throw damaged("the file is many times longer than its pixels can be") }
    window.copyMemory(from: UnsafeRawBufferPointer(rebasing: window[unread]))
    let free = UnsafeMutableRawBufferPointer(rebasing: window[unread.count...].prefix(readByteCount))
    let end = position + unread.count
    let count = try source.read(into: free, at: end)
    guard count > 0 else {
      throw end == 0 ? PictureError.empty(file: name) : PictureError.truncated(file: name, place: place)
    }
    unread = 0..<unread.count + min(count, free.count)
  }

  /// Takes the next `count` bytes, which stay valid until the next call.
  ///
  /// What is unread afterwards is always of one read, so that forgetting it asks no source to go back further.
  private func take(_ count: Int) throws -> UnsafeRawBufferPointer {
    while unread.count < count { try fill() }
    defer { pass(count) }
    return UnsafeRawBufferPointer(rebasing: window[unread.prefix(count)])
  }

  private func pass(_ count: Int) {
    unread.removeFirst(count)
    position += count
  }

  private func takeNumber() throws -> UInt32 {
    UInt32(bigEndian: try take(4).loadUnaligned(as: UInt32.self))
  }

  /// Passes over the eight bytes that every PNG file begins with.
  func takeSignature() throws {
    let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
    // Compared byte by byte, so that a short file of another kind is not called a PNG file that ends early.
    for byte in signature where try take(1)[0] != byte { throw PictureError.notPNG(file: name) }
  }

  // MARK: Chunks

  /// Begins the next chunk; the one before it must be at its end.
  func begin() throws {
    start = position
    let length = try takeNumber()
    let name = try take(4)
    guard length <= Int32.max, name.allSatisfy({ (0x41...0x5a).contains($0 & 0xdf) }) else {
      throw damaged("there is something other than a chunk")
    }
    remaining = Int(length)
    kind = Kind(code: UInt32(bigEndian: name.loadUnaligned(as: UInt32.self)))
    checksum = 0
    addToChecksum(name)
  }

  /// Takes all data of a small chunk and checks it; the bytes stay valid until the next call.
  func takeData<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
    let data = try take(remaining)
    addToChecksum(data)
    remaining = 0
    let result = try body(data)
    try end()
    return result
  }

  /// The data of the chunk that the window holds, which stay valid until more are found.
  var atHand: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: window[unread.prefix(remaining)]) }

  /// Takes the first bytes of what is at hand.
  func takeAtHand(_ count: Int) {
    addToChecksum(UnsafeRawBufferPointer(rebasing: atHand.prefix(count)))
    pass(count)
    remaining -= count
  }

  /// Gets data of pixels to hand, of this chunk or of those that follow; false when one of another kind has been begun.
  func findPixels() throws -> Bool {
    while kind == .pixels {
      if remaining > 0 {
        if unread.isEmpty { try fill() }
        return true
      }
      try end()
      try begin()
    }
    return false
  }

  /// Checks a chunk all of whose data has been taken.
  func end() throws {
    guard try takeNumber() == checksum else { throw damaged("wrong checksum of \(name(kind))") }
  }

  /// Passes over a chunk, unchecked and unread: nobody uses what it says.
  func skip() {
    // With its checksum.
    skipData(remaining + 4)
    remaining = 0
  }

  /// Takes some of the data, unchecked: what is said beside the pixels cannot make them unreadable.
  func takeData(_ count: Int) throws -> UnsafeRawBufferPointer {
    remaining -= count
    return try take(count)
  }

  /// Passes over some of the data, unread.
  func skipData(_ count: Int) {
    remaining -= count
    unread.removeFirst(min(unread.count, count))
    position += count
  }

  private func addToChecksum(_ bytes: UnsafeRawBufferPointer) {
    checksum = cpr_crc32(inflater, checksum, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
  }
}

extension PNGChunks {
  /// Where in the picture a reader is, as errors say it.
  enum Stage {
    case header
    case prelude
    case row(Int, of: Int)
    case epilogue
  }

  /// What errors call the file.
  var name: String { source.name }

  private var place: String {
    let part =
      switch stage {
      case .header: "the header"
      case .prelude: "what precedes the pixels"
      case .row(let row, let height): "row \(row) of \(height)"
      case .epilogue: "what follows the pixels"
      }
    // Not the byte that was taken last: how far ahead the inflater has read differs from library to library.
    return "\(part), in what begins at byte \(start)"
  }

  /// The error for a file that breaks the specification here.
  func damaged(_ reason: String) -> PictureError {
    .damaged(file: name, place: place, reason: reason)
  }

  /// What errors call a chunk.
  func name(_ kind: Kind) -> String { "chunk \(String(decoding: kind.letters, as: UTF8.self))" }
}
