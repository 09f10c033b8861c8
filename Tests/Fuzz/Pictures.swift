import JPEGReference
import MemChunks
import PictureReference
import Pictures

// Files for the one way in: WebP, interlaced PNG, and every kind with profiles and orientations. Whatever they hold,
// reading them must end, stay in its budget, come to the same in pieces and as a whole; and what is right must be without
// a warning.
//
// The first byte of an input says how to read the rest, which is a file:
//   bit 0: the checksums of PNG chunks are made right, which mutations seldom hit
//   bit 1: it is made smaller, otherwise read at its size
//   bit 2: pixels are kept, otherwise rows are given out as they are decoded
//   the others: how the source cuts the file into pieces

func fuzz(_ input: [UInt8]) {
  guard let mode = input.first else { return }
  let rest = Array(input.dropFirst())
  let file = mode & 1 != 0 ? withRightChecksums(rest) : rest
  let piece = 1 + Int(mode >> 3) * 37
  guard let picture = open(file, piece), picture.width * picture.height < 1 << 18 else { return }
  let size = mode & 2 != 0 ? picture.size(fitting: 20, 20) : (picture.width, picture.height)
  let keeps = mode & 4 != 0
  let strict = read(picture, size, keeps, .refuse), lenient = read(picture, size, keeps, .showWhatThereIs)
  guard strict.pixels == read(picture, size, !keeps, .refuse).pixels else {
    fatalError("keeping pixels makes a difference")
  }
  guard let whole = open(file, file.count + 1) else { fatalError("pieces make a difference to what a file says") }
  // Where it has many bytes at hand, libjpeg-turbo does not look whether a code exists.
  if strict.pixels != read(whole, size, keeps, .refuse).pixels, strict.pixels != nil || picture.format != .jpeg {
    fatalError("pieces make a difference")
  }
  if strict.pixels != nil {
    guard lenient.pixels == strict.pixels, !lenient.hasWarning else { fatalError("a file is right, and not") }
  } else if lenient.pixels != nil, !lenient.hasWarning, picture.format != .jpeg {
    // What is behind the last row of a JPEG picture is looked at only where damage matters.
    fatalError("no warning of a damaged file")
  }
  if picture.format == .png, mode & 2 == 0, !picture.hasProfile { compareWithLibspng(file, strict.pixels) }
}

private func open(_ file: [UInt8], _ piece: Int) -> Picture? {
  try? Picture(limits: PictureLimits(byteCount: 16 << 20)) { BytesSource(file, pieceByteCount: piece) }
}

/// What reading came to: the pixels, or nil for an error.
private struct Outcome {
  var pixels: [UInt8]?
  var hasWarning = false
}

private func read(
  _ picture: Picture, _ size: (width: Int, height: Int), _ keepsPixels: Bool, _ damage: DamagePolicy
) -> Outcome {
  let pool = ChunkPool(budget: .megabytes(32))
  var outcome = Outcome()
  do {
    let chunk = try PictureChunk(
      picture, width: size.width, height: size.height, in: pool, keepsPixels: keepsPixels,
      reading: PictureReading(damage: damage))
    var pixels: [UInt8] = []
    outcome.hasWarning = try chunk.forEachRow { pixels += $0 } != nil
    guard pixels.count == 4 * size.width * size.height else { fatalError("too few rows") }
    outcome.pixels = pixels
  } catch {
    // The error is the file's; that it is one is all that is compared.
  }
  guard pool.statistics.peak <= 32 << 20 else { fatalError("too much memory") }
  return outcome
}

/// Interlaced pictures must have the rows of the whole, and the others too.
private func compareWithLibspng(_ file: [UInt8], _ pixels: [UInt8]?) {
  guard let header = try? PNGHeader(BytesSource(file)), header.isInterlaced else { return }
  let whole = try? decode(BytesSource(file))
  // A file that is too short for its pixels is refused unread.
  guard let pixels else { return }
  guard whole == pixels else { fatalError("not the pixels of libspng") }
}

private func withRightChecksums(_ file: [UInt8]) -> [UInt8] {
  guard file.starts(with: PNGPieces.signature) else { return file }
  var result = Array(file.prefix(8))
  var rest = file.dropFirst(8)
  while rest.count >= 8 {
    let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    let data = rest.dropFirst(8).prefix(length)
    guard data.count == length else { break }
    result += PNGPieces.chunk(Array(rest.dropFirst(4).prefix(4)), Array(data))
    rest = rest.dropFirst(12 + length)
  }
  return result + rest
}

func fuzzSeeds() -> [[UInt8]] {
  var files: [[UInt8]] = []
  for (type, depth) in [(.truecolor, 8), (.truecolorAlpha, 16), (.grayscale, 2)] as [(PNGHeader.ColorType, Int)] {
    for side in [9, 60] {
      let maker = PNGMaker(width: side, height: side, depth: depth, colorType: type, isInterlaced: true)
      files.append(maker.encode((0..<side * side * maker.channels).map { UInt16($0 * $0 % (1 << depth)) }))
    }
  }
  for quality in [nil, 60] as [Float?] {
    for hasAlpha in [false, true] {
      files.append(WebPMaker(width: 35, height: 19, quality: quality, hasAlpha: hasAlpha).encode())
    }
  }
  var count = 0
  let profile = taken(pref_profile(0, 1.8, &count), count)
  let exif = Array(JPEGPieces.exif(6).dropFirst(10))
  files.append(
    WebPMaker.extended(
      files[files.count - 2], width: 35, height: 19, before: WebPMaker.chunk("ICCP", profile),
      behind: WebPMaker.chunk("EXIF", exif), flags: 0x28))
  let segment = JPEGPieces.segment(0xe2, Array("ICC_PROFILE\0".utf8) + [1, 1] + profile)
  files.append(JPEGPieces.inserting(segment + JPEGPieces.exif(8), into: JPEGMaker(width: 35, height: 19).encode()))
  return files.flatMap { file in [0xfc, 0x3a].map { [$0] + file } }
}
