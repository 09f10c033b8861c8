/// The format of recorded traces, version 4.
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
///     6 other      the lowest four bits of the subject say what, the rest is the subject of that:
///       0 dropped    the subject is how many hits could not be recorded
///       1 pinned     a token holds the product, one or one more of them; microseconds
///       2 unpinned   one of the tokens let go; microseconds
///       3 keep limit the subject is what may stay ready unused, in bytes; level of pressure (0 to 2), microseconds
///       4 time       the subject is the microseconds
///       5 inside     what is asked for from here on, the generation of this chunk asks for; 0: no generation does
///       6 failed     a generation of the chunk ended without a product; microseconds
///       7 peak       generating it takes more than its product, which comes next: bytes
///       8 planned    what is asked for from here on follows a plan that was made for the budget; microseconds
///       9 plans      it does no more; the subject is how many plans follow, by rising budgets, each with its budget in bytes,
///                    how often it generates, how many bytes, in how many nanoseconds; 0: there was no plan. Microseconds
///     7 budget     the subject is the budget in bytes; microseconds
///
/// A hit takes two or three bytes, everything else about ten. Hits, and tokens that took no slow step, are written when the pool
/// takes its next slow step: that is how exact their time is.
///
/// What a generation asks for stands before the `generated` or `prefetched` that it ends with. Chunks need not be named before
/// `inside`.
///
/// Plans may begin while others last; what is asked for then is planned until all have ended.
///
/// Version 3 knew of the others those up to `peak`, and had three bits for what they are. Version 2 knew those up to `time`, so
/// what generations asked for looks like any request there. Version 1 knew only `dropped`, and had its subject where later
/// versions have what it is.
enum TraceFormat {
  static let version = 4
  static let magic = Array("MCTRACE".utf8)
  /// More than any writer writes at once; a greater length is damage.
  static let largestBlock = 1 << 24

  enum Kind: UInt64 {
    case hit, generated, prefetched, ready, freed, named, other, budget
  }

  enum Other: UInt64 {
    case dropped, pinned, unpinned, keepLimit, time, inside, failed, peak, planned, plans

    /// How many bits say which of them it is.
    static let bitCount = 4
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

  static let headSize = 8
  /// A block with place for its head, to which events are appended.
  static let emptyBlock = [UInt8](repeating: 0, count: headSize)
  /// A block of no events.
  static let endMark: [UInt8] = {
    var block = emptyBlock
    close(&block)
    return block
  }()

  /// Writes the head of a block that is complete.
  static func close(_ block: inout [UInt8]) {
    let (length, check) = (UInt32(block.count - headSize), crc(block[headSize...]))
    for byte in 0..<4 {
      block[byte] = UInt8(truncatingIfNeeded: length >> (8 * byte))
      block[4 + byte] = UInt8(truncatingIfNeeded: check >> (8 * byte))
    }
  }

  static func crc(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    // Four bytes at a time: a recorder does this for every hit.
    remainders.withUnsafeBufferPointer { table in
      bytes.withUnsafeBytes { bytes in
        var (sum, place) = (~UInt32(0), 0)
        while bytes.count - place >= 4 {
          sum ^= UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
          let (low, high) = (Int(sum & 0xffff), Int(sum >> 16))
          sum = table[768 + (low & 0xff)] ^ table[512 + (low >> 8)]
          sum ^= table[256 + (high & 0xff)] ^ table[high >> 8]
          place += 4
        }
        for byte in bytes[place...] {
          let index = UInt8(truncatingIfNeeded: sum) ^ byte
          sum = table[Int(index)] ^ (sum >> 8)
        }
        return ~sum
      }
    }
  }

  /// The remainders of all bytes, then of all bytes with one, two and three zeros behind.
  private static let remainders: [UInt32] = {
    var all: [UInt32] = []
    for byte in UInt32(0)..<256 {
      var value = byte
      for _ in 0..<8 { value = value & 1 == 1 ? 0xedb8_8320 ^ (value >> 1) : value >> 1 }
      all.append(value)
    }
    for place in 256..<1_024 {
      let last = all[place - 256]
      all.append(all[Int(last & 0xff)] ^ (last >> 8))
    }
    return all
  }()
}
