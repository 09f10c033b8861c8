import Pictures

// Files for the PNG row reader. Whatever they hold, reading them must end, stay in its memory, and come to the same with
// both inflaters, parked after every row or never; what is read must be what libspng reads.
//
// The first byte of an input says how to make a file of the rest:
//   bit 0: the rest is a file; its chunks get the right checksums, which mutations seldom hit
//   bit 1: the rest is width, kind and rows, and a right file is made of them: filters and pixels are what is tried
//   the others: how the source cuts the file into pieces

func fuzz(_ input: [UInt8]) {
  guard let mode = input.first else { return }
  let rest = Array(input.dropFirst())
  let file = mode & 2 != 0 ? wholeFile(of: rest) : mode & 1 != 0 ? withRightChecksums(rest) : rest
  let piece = 1 + Int(mode >> 2) * 37
  guard
    let header = try? PNGHeader(BytesSource(file, pieceByteCount: piece)), PNGRowReader.canRead(header),
    header.width * header.height < 1 << 20
  else { return }
  let small = read(file, header, .small, piece), fast = read(file, header, .fast, piece)
  for (inflater, outcome) in [(PNGRowReader.Inflater.small, small), (.fast, fast)] {
    let parked = read(file, header, inflater, piece, isParked: true)
    guard parked == outcome || isSameDamage(outcome, parked) else {
      fatalError("\(inflater): \(outcome), parked: \(parked)")
    }
  }
  guard small == fast else {
    // zlib refuses codes that leave some bits without a meaning, ISA-L only a file that uses such bits.
    if small.error?.contains("not what deflate makes") == true, fast.pixels.starts(with: small.pixels) { return }
    // ISA-L sees that the codes of a block are none before it has them all.
    let isSeenEarly = fast.error?.contains("not what deflate makes") == true
    if isSeenEarly, small.error != nil, fast.pixels == small.pixels { return }
    fatalError("zlib: \(small), ISA-L: \(fast)")
  }
  // libspng compares all 16 bits of a grey that is to be transparent, though at 8 bits a sample only 8 count.
  if small.error == nil, header.colorType != .grayscale, let pixels = try? decode(BytesSource(file)) {
    guard pixels == small.pixels else { fatalError("not the pixels of libspng") }
  }
}

/// What reading came to: the rows before an error, and the error.
private struct Outcome: Equatable {
  var pixels: [UInt8] = []
  var error: String?
}

/// Whether two readings of a damaged file differ only in when they noticed: ISA-L looks at codes that mean nothing in one
/// place more closely than in another, and which it is depends on how the file comes in pieces.
private func isSameDamage(_ one: Outcome, _ other: Outcome) -> Bool {
  guard let first = one.error, let second = other.error else { return false }
  let isOfCodes = first.contains("not what deflate makes") || second.contains("not what deflate makes")
  return isOfCodes && (one.pixels.starts(with: other.pixels) || other.pixels.starts(with: one.pixels))
}

private func read(
  _ file: [UInt8], _ header: PNGHeader, _ inflater: PNGRowReader.Inflater, _ piece: Int, isParked: Bool = false
) -> Outcome {
  let memory = RowMemory(header, .rgba8, inflater)
  defer { withExtendedLifetime(memory) {} }
  var outcome = Outcome()
  do {
    let reader = try PNGRowReader(
      BytesSource(file, pieceByteCount: piece), header: header, format: .rgba8, inflater: inflater,
      memory: memory.kept, scratch: memory.scratch)
    while let row = try reader.nextRow(memory.scratch) {
      outcome.pixels += row
      guard isParked else { continue }
      reader.park()
      memory.spoilScratch()
    }
  } catch {
    outcome.error = "\(error)"
  }
  return outcome
}

private func withRightChecksums(_ file: [UInt8]) -> [UInt8] {
  var result = Array(file.prefix(8))
  var rest = file.dropFirst(8)
  while rest.count >= 8 {
    let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    // An empty or wrong name stays so; the checksum covers it as it is.
    let name = rest.dropFirst(4).prefix(4)
    let data = rest.dropFirst(8).prefix(length)
    guard data.count == length else { break }
    result += PNGPieces.chunk(Array(name), Array(data))
    rest = rest.dropFirst(12 + length)
  }
  return result + rest
}

private func wholeFile(of bytes: [UInt8]) -> [UInt8] {
  guard bytes.count > 20 else { return [] }
  let kinds: [PNGHeader.ColorType] = [.grayscale, .truecolor, .indexed, .grayscaleAlpha, .truecolorAlpha]
  let type = kinds[Int(bytes[0] & 127) % 5], depth = bytes[0] >= 128 && type != .indexed ? 16 : 8
  let channels = PNGMaker(width: 1, height: 1, depth: depth, colorType: type).channels
  let width = 1 + Int(bytes[1]), rowByteCount = 1 + width * channels * depth / 8
  var rows = Array(bytes.dropFirst(20))
  rows += Array(repeating: 1, count: (rowByteCount - rows.count % rowByteCount) % rowByteCount)
  for start in stride(from: 0, to: rows.count, by: rowByteCount) { rows[start] %= 5 }
  let height = max(1, rows.count / rowByteCount)
  let colors =
    type == .indexed
    ? PNGPieces.chunk("PLTE", Array(bytes[2..<17])) + PNGPieces.chunk("tRNS", Array(bytes[17..<20]))
    : type == .truecolor ? PNGPieces.chunk("tRNS", Array(bytes[2..<8])) : []
  return PNGPieces.start(width: width, height: height, depth: depth, colorType: type) + colors
    + PNGPieces.pixels(PNGPieces.stored(rows), inChunksOf: 1 + 100 * Int(bytes[8])) + PNGPieces.end
}

func fuzzSeeds() -> [[UInt8]] {
  let kinds: [(type: PNGHeader.ColorType, depth: Int)] =
    [(.indexed, 8)]
    + [8, 16].flatMap { depth in
      [.grayscale, .truecolor, .grayscaleAlpha, .truecolorAlpha].map { ($0, depth) }
    }
  let files = kinds.map { kind in
    var maker = PNGMaker(width: 19, height: 12, depth: kind.depth, colorType: kind.type)
    if kind.type == .indexed { maker.palette = (0..<256).map { (UInt8($0), 0, 9) } }
    if maker.channels == 3 { maker.transparency = [5, 6, 7] }
    return maker.encode((0..<19 * 12 * maker.channels).map { UInt16($0 * $0 % 251) })
  }
  let rows = (0..<10).map { (kind: Int) -> [UInt8] in
    let first = UInt8(kind < 5 ? kind : 123 + kind)
    return [first, 8] + (0..<200).map { UInt8($0 * ($0 + kind) % 256) }
  }
  // Whole files as they are and with their checksums made right, in large pieces and in small ones.
  let modes: [UInt8] = [0xfd, 0x0c, 0x01]
  return modes.flatMap { mode in files.map { [mode] + $0 } } + rows.map { [0xfe] + $0 }
}
