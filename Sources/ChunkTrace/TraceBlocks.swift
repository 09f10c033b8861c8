/// The blocks of a recorded trace, and the numbers in them, read one after the other.
struct TraceBlocks {
  private let bytes: [UInt8]
  private let file: String
  /// The next byte.
  private(set) var offset = 0
  /// Where the events of the present block end.
  private var blockEnd = 0

  init(_ bytes: [UInt8], _ file: String) {
    self.bytes = bytes
    self.file = file
  }

  /// The version of the format.
  mutating func readHeader() throws(TraceError) -> Int {
    offset = TraceFormat.magic.count + 1
    guard bytes.count >= offset else { throw damage("the first line of the file is cut off", at: bytes.count) }
    let version = Int(bytes[offset - 1])
    guard version > 0 else { throw damage("no version is 0", at: offset - 1) }
    guard version <= TraceFormat.version else { throw .tooNew(file: file, version: version) }
    blockEnd = offset
    return version
  }

  /// Goes to the next event; false behind the end mark.
  mutating func beginEvent() throws(TraceError) -> Bool {
    if offset < blockEnd { return true }
    return try beginBlock()
  }

  /// How many bytes there may be to what is being read.
  var bytesLeft: Int { blockEnd - offset }

  /// False for the end mark.
  private mutating func beginBlock() throws(TraceError) -> Bool {
    guard bytes.count - offset >= 8 else {
      throw damage("it ends without its end mark: whoever wrote it did not close it", at: offset)
    }
    let length = Int(word(at: offset))
    let start = offset
    guard length <= TraceFormat.largestBlock else { throw damage("a block of \(length) bytes cannot be", at: start) }
    guard bytes.count - offset - 8 >= length else { throw damage("the last block is cut off", at: start) }
    let payload = bytes[(offset + 8)..<(offset + 8 + length)]
    guard TraceFormat.crc(payload) == word(at: offset + 4) else {
      throw damage("the checksum of a block is wrong", at: start)
    }
    offset += 8
    blockEnd = offset + length
    guard length == 0 else { return true }
    guard offset == bytes.count else { throw damage("something stands behind the end mark", at: offset) }
    return false
  }

  private func word(at offset: Int) -> UInt32 {
    (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << UInt32(8 * $1) }
  }

  /// A number as the format has them.
  mutating func number() throws(TraceError) -> UInt64 {
    let start = offset
    var (number, shift) = (UInt64(0), UInt64(0))
    while offset < blockEnd, shift < 64 {
      let byte = bytes[offset]
      offset += 1
      number |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return number }
      shift += 7
    }
    throw damage("a number does not end", at: start)
  }

  /// A subject that is a chunk's number.
  func chunkNumber(_ subject: UInt64, at start: Int) throws(TraceError) -> UInt32 {
    guard subject > 0, subject <= UInt32.max else { throw damage("no chunk has the number \(subject)", at: start) }
    return UInt32(subject)
  }

  /// A size in bytes. More than any memory has is damage: sums of it need no thought then.
  mutating func size() throws(TraceError) -> Int {
    let start = offset
    let size = try number()
    guard size <= 1 << 50 else { throw damage("a size of \(size) bytes cannot be", at: start) }
    return Int(size)
  }

  /// A cost in nanoseconds, a fortnight at most.
  mutating func cost() throws(TraceError) -> UInt64 {
    let start = offset
    let cost = try number()
    guard cost <= 1 << 50 else { throw damage("a cost of \(cost) nanoseconds cannot be", at: start) }
    return cost
  }

  mutating func text() throws(TraceError) -> String {
    let start = offset
    let length = try number()
    guard length <= UInt64(blockEnd - offset) else { throw damage("a text does not end", at: start) }
    defer { offset += Int(length) }
    return String(decoding: bytes[offset..<(offset + Int(length))], as: UTF8.self)
  }

  /// What is wrong at a byte.
  func damage(_ reason: String, at offset: Int) -> TraceError {
    .damaged(file: file, offset: offset, reason: reason)
  }
}
