import Pictures

/// PNG files put together by hand, right or wrong in just the way that a test wants.
enum PNGPieces {
  static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
  static let end = chunk("IEND", [])

  /// A chunk with its length and the right checksum.
  static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] { chunk(Array(name.utf8), data) }

  static func chunk(_ name: [UInt8], _ data: [UInt8]) -> [UInt8] {
    let named = name + data
    var checksum: UInt32 = .max
    for byte in named {
      checksum ^= UInt32(byte)
      for _ in 0..<8 { checksum = checksum >> 1 ^ (checksum & 1 == 0 ? 0 : 0xedb8_8320) }
    }
    return bigEndian(UInt32(data.count)) + named + bigEndian(~checksum)
  }

  /// Signature and header.
  static func start(
    width: Int, height: Int, depth: Int = 8, colorType: PNGHeader.ColorType = .truecolorAlpha, interlace: UInt8 = 0
  ) -> [UInt8] {
    let sides = bigEndian(UInt32(width)) + bigEndian(UInt32(height))
    return signature + chunk("IHDR", sides + [UInt8(depth), colorType.rawValue, 0, 0, interlace])
  }

  /// A zlib stream that holds bytes as they are, in blocks of at most 1 000.
  static func stored(_ bytes: [UInt8]) -> [UInt8] {
    var stream: [UInt8] = [0x78, 0x01]
    var (low, high) = (1 as UInt32, 0 as UInt32)
    for start in stride(from: 0, through: bytes.count, by: 1_000) {
      let block = bytes[start..<min(start + 1_000, bytes.count)]
      let count = UInt16(block.count)
      stream.append(start + 1_000 > bytes.count ? 1 : 0)
      stream += [count, ~count].flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
      stream += block
    }
    for byte in bytes {
      low = (low + UInt32(byte)) % 65_521
      high = (high + low) % 65_521
    }
    return stream + bigEndian(high << 16 | low)
  }

  /// Data chunks of at most `byteCount` bytes each.
  static func pixels(_ stream: [UInt8], inChunksOf byteCount: Int = .max) -> [UInt8] {
    var (rest, chunks) = (stream[...], [UInt8]())
    repeat {
      chunks += chunk("IDAT", Array(rest.prefix(byteCount)))
      rest = rest.dropFirst(byteCount)
    } while !rest.isEmpty
    return chunks
  }

  static func bigEndian(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
  }
}

/// Memory for a row reader that holds garbage and is not a byte too large.
final class RowMemory {
  let kept: UnsafeMutableRawBufferPointer
  let scratch: PNGRowScratch
  private let scratchMemory: UnsafeMutableRawBufferPointer

  init(_ header: PNGHeader, _ format: PNGRowReader.Format, _ inflater: PNGRowReader.Inflater) {
    func garbage(_ byteCount: Int) -> UnsafeMutableRawBufferPointer {
      let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 16)
      memory.initializeMemory(as: UInt8.self, repeating: 0xaa)
      return memory
    }
    kept = garbage(PNGRowReader.byteCount(for: header, format: format, inflater: inflater))
    scratchMemory = garbage(PNGRowReader.scratchByteCount(for: header, format: format))
    scratch = PNGRowScratch(memory: scratchMemory)
  }

  deinit {
    kept.deallocate()
    scratchMemory.deallocate()
  }

  /// Fills the scratch with garbage, as another reader does that works in it.
  func spoilScratch() { scratchMemory.initializeMemory(as: UInt8.self, repeating: 0x55) }
}

/// Reads all rows of a picture; with `isParked` the reader is parked after each, and its scratch spoilt.
func readRows(
  _ source: any PositionedSource, _ header: PNGHeader, _ format: PNGRowReader.Format, _ inflater: PNGRowReader.Inflater,
  isParked: Bool = false
) throws -> [UInt8] {
  let memory = RowMemory(header, format, inflater)
  defer { withExtendedLifetime(memory) {} }
  let reader = try PNGRowReader(
    source, header: header, format: format, inflater: inflater, memory: memory.kept, scratch: memory.scratch)
  var pixels: [UInt8] = []
  while true {
    if isParked {
      reader.park()
      memory.spoilScratch()
    }
    guard let row = try reader.nextRow(memory.scratch) else { return pixels }
    pixels += row
  }
}
