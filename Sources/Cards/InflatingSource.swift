internal import CZlib
internal import Pictures

/// A deflated entry of an archive, front to back.
final class InflatingSource: PictureSource {
  /// The memory that it takes: zlib's state, its window of 32 KB, and compressed bytes.
  static let byteCount = (40 << 10) + inputByteCount

  /// Compressed bytes that are read at a time.
  private static let inputByteCount = 4 << 10

  private let place: EntryPlace
  private var rest: Range<Int>
  private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: inputByteCount, alignment: 16)
  /// zlib keeps its address, so it must not move.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  private var check: EntryCheck
  private var isAtEnd = false

  init(_ place: EntryPlace) throws(CardError) {
    self.place = place
    rest = place.bytes
    check = EntryCheck(place)
    stream.initialize(to: z_stream())
    // Without a header and a checksum of deflate's own: the archive has them.
    let status = inflateInit2_(stream, -MAX_WBITS, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    guard status == Z_OK else { throw check.damaged("there is no memory to inflate it") }
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
    input.deallocate()
  }

  var name: String { place.name }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    if isAtEnd || buffer.isEmpty { return 0 }
    stream.pointee.next_out = buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_out = UInt32(clamping: buffer.count)
    while stream.pointee.avail_out > 0, !isAtEnd {
      if stream.pointee.avail_in == 0 { try fill() }
      switch inflate(stream, Z_NO_FLUSH) {
      case Z_OK: break
      case Z_STREAM_END: isAtEnd = true
      // Also when there is nothing left to inflate and no end has come.
      default: throw check.damaged("its compressed bytes are not what deflate makes, or too few")
      }
    }
    let count = min(buffer.count, Int(UInt32.max)) - Int(stream.pointee.avail_out)
    try check.take(UnsafeRawBufferPointer(rebasing: buffer[..<count]), isEnd: isAtEnd)
    return count
  }

  private func fill() throws {
    let piece = UnsafeMutableRawBufferPointer(rebasing: input[..<min(input.count, rest.count)])
    let count = try place.file.read(into: piece, at: rest.lowerBound)
    rest.removeFirst(count)
    stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
    stream.pointee.avail_in = UInt32(count)
  }
}

/// Compares the bytes of an entry with what the archive says of them.
struct EntryCheck {
  private let file: String
  private let entry: String
  private let checksum: UInt32
  private var missing: Int
  private var found: UInt

  init(_ place: EntryPlace) {
    file = place.file.name
    entry = place.entry
    checksum = place.checksum
    missing = place.byteCount
    found = crc32(0, nil, 0)
  }

  /// Takes the next bytes, and says what is wrong with all when they are the last.
  mutating func take(_ bytes: UnsafeRawBufferPointer, isEnd: Bool) throws(CardError) {
    missing -= bytes.count
    guard missing >= 0 else { throw damaged("it has more bytes than the archive says") }
    found = crc32_z(found, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
    guard isEnd else { return }
    guard missing == 0 else { throw damaged("it has \(missing) bytes fewer than the archive says") }
    guard found == UInt(checksum) else { throw damaged("its checksum is wrong") }
  }

  func damaged(_ reason: String) -> CardError {
    .cannotReadEntry(file: file, entry: entry, reason: reason)
  }
}
