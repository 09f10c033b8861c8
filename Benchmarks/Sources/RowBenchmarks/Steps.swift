import CPNGRows

/// The steps of reading rows one by one: what each takes of the whole.
struct Steps {
  /// A row with its filter, as it is inflated.
  private static let rowByteCount = 4 * Photo.side + 1

  private let compressed: [UInt8]
  private let filtered: [UInt8]

  init(_ photo: Photo) {
    compressed = Self.compressedPixels(of: photo.file)
    filtered = Self.inflate(compressed, CPR_SMALL)
  }

  /// Without the two bytes of the zlib header.
  private static func compressedPixels(of file: [UInt8]) -> [UInt8] {
    var pixels: [UInt8] = []
    var position = 8
    while position < file.count {
      let length = file[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
      if file[position + 4..<position + 8].elementsEqual("IDAT".utf8) {
        pixels += file[position + 8..<position + 8 + length]
      }
      position += 12 + length
    }
    return Array(pixels.dropFirst(2))
  }

  private static func inflate(_ compressed: [UInt8], _ kind: cpr_inflater) -> [UInt8] {
    let state = UnsafeMutableRawPointer.allocate(byteCount: cpr_inflater_byte_count(kind), alignment: 16)
    defer { state.deallocate() }
    guard cpr_inflate_begin(kind, state) else { return [] }
    defer { cpr_inflate_end(kind, state) }
    let byteCount = Photo.side * rowByteCount
    return [UInt8](unsafeUninitializedCapacity: byteCount + Int(CPR_ROW_MARGIN)) { buffer, count in
      compressed.withUnsafeBufferPointer { input in
        var stream = cpr_stream(
          input: input.baseAddress, input_count: input.count, output: buffer.baseAddress, output_count: 0)
        for _ in 0..<Photo.side {
          stream.output_count = rowByteCount
          _ = cpr_inflate(kind, state, &stream)
        }
      }
      for index in byteCount..<buffer.count { buffer[index] = 0 }
      count = byteCount + Int(CPR_ROW_MARGIN)
    }
  }

  func inflate(_ kind: cpr_inflater) -> Int { Int(Self.inflate(compressed, kind)[0]) }

  func checksum(_ kind: cpr_inflater) -> Int { Int(cpr_crc32(kind, 0, compressed, compressed.count)) }

  func unfilter() -> Int {
    let row = UnsafeMutablePointer<UInt8>.allocate(capacity: Self.rowByteCount + Int(CPR_ROW_MARGIN))
    defer { row.deallocate() }
    row.initialize(repeating: 0, count: Self.rowByteCount + Int(CPR_ROW_MARGIN))
    filtered.withUnsafeBufferPointer {
      for index in 0..<Photo.side {
        let start = $0.baseAddress! + index * Self.rowByteCount
        _ = cpr_unfilter(UInt32(start[0]), start + 1, row, Self.rowByteCount - 1, 4)
      }
    }
    return Int(row[0])
  }

  /// Widens rows to 16 bits a sample.
  func expand() -> Int {
    var pixels = cpr_pixels()
    pixels.channels = 4
    pixels.sample_bytes = 1
    var wide = [UInt16](repeating: 0, count: 4 * Photo.side)
    for row in 0..<Photo.side {
      filtered.withUnsafeBufferPointer {
        cpr_expand_16(&pixels, nil, $0.baseAddress! + row * Self.rowByteCount + 1, Photo.side, &wide)
      }
    }
    return Int(wide[0])
  }
}
