/// Numbers as zip archives hold them, the lowest byte first.
enum LittleEndian {
  /// The number of 16 bits at `offset`.
  static func short(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int {
    Int(UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
  }

  /// The number of 32 bits at `offset`.
  static func word(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt32 {
    UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  /// The number of 64 bits at `offset`; one that is larger than any file is is `Int.max`.
  static func long(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int {
    Int(clamping: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
  }
}

extension [UInt8] {
  /// Appends the lowest bytes of a number.
  mutating func append(_ value: Int, byteCount: Int) {
    for index in 0..<byteCount { append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
  }
}
