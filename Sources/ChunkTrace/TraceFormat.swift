/// The format of recorded traces, version 1.
///
/// A file begins with the seven bytes `MCTRACE` and one that is the version. Blocks follow, each of them:
///
///     4 bytes   length of the payload, little endian; 0 for the end mark
///     4 bytes   CRC-32 of the payload (ISO 3309, as in PNG), little endian
///     payload   events
///
/// A block is written by one call and holds whole events, so a writer that is killed leaves whole blocks, and at most a part of
/// one behind them. A file that was closed properly ends with the end mark, a block of length 0.
///
/// Numbers are unsigned, seven bits a byte, the least first, the highest bit set in all bytes but the last. An event begins
/// with a number: its kind in the lowest three bits, a subject in the rest - the chunk's number where nothing else is said.
///
///     0 hit        a use found the product ready
///     1 generated  for a use: size in bytes, nanoseconds it took, microseconds since the last event that has them
///     2 prefetched the same, but nobody used it
///     3 ready      when recording began: size in bytes, nanoseconds it had taken
///     4 freed      reason (the index in `FreeReason.allCases`), microseconds
///     5 named      length and UTF-8 of the label, length and UTF-8 of the group's
///     6 dropped    the subject is how many hits could not be recorded
///     7 budget     the subject is the budget in bytes; microseconds
///
/// A hit takes two or three bytes, everything else about ten.
enum TraceFormat {
  static let version = 1
  static let magic = Array("MCTRACE".utf8)
  /// More than any writer writes at once; a greater length is damage.
  static let largestBlock = 1 << 24

  enum Kind: UInt64 {
    case hit, generated, prefetched, ready, freed, named, dropped, budget
  }

  static func append(_ number: UInt64, to bytes: inout [UInt8]) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  static func append(_ text: String, to bytes: inout [UInt8]) {
    append(UInt64(text.utf8.count), to: &bytes)
    bytes += text.utf8
  }

  /// The head of a block, to stand before its payload.
  static func head(of payload: [UInt8]) -> [UInt8] {
    let (length, check) = (UInt32(payload.count), crc(payload[...]))
    return (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
      + (0..<4).map { UInt8(truncatingIfNeeded: check >> (8 * $0)) }
  }

  static func crc(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    ~bytes.reduce(~0) { remainders[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ $0 >> 8 }
  }

  private static let remainders: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? 0xedb8_8320 ^ value >> 1 : value >> 1 }
  }
}
