import JPEGReference
import Pictures

// Files for the JPEG row reader. Whatever they hold, reading them must end, stay in its memory, and come to the same however
// the source cuts them into pieces; and where nothing is wrong, coefficients in several scans must be libjpeg's.
//
// The first byte of an input says how to read the rest, which is a file:
//   bits 0 and 1: the scale
//   the others: how the source cuts the file into pieces

func fuzz(_ input: [UInt8]) {
  guard let mode = input.first else { return }
  let file = Array(input.dropFirst())
  let scale = JPEGScale(eighths: 1 << (mode & 3)), piece = 1 + Int(mode >> 2) * 37
  guard let header = try? JPEGHeader(BytesSource(file, pieceByteCount: piece)), header.width * header.height < 1 << 18
  else { return }
  let strict = read(file, header, scale, .refuse, piece), lenient = read(file, header, scale, .showWhatThereIs, piece)
  // Where it has many bytes at hand, libjpeg-turbo does not look whether a code exists.
  if strict.error == nil, strict != read(file, header, scale, .refuse, file.count + 1) {
    fatalError("pieces make a difference")
  }
  if strict.error == nil {
    guard lenient == strict, !lenient.hasWarning else { fatalError("a file is right, and not: \(lenient)") }
    // Where bytes fill up what needs none, libjpeg-turbo 2.1 leaves coefficients of a first attempt in the block.
    let hasFill = zip(file, file.dropFirst()).contains { $0 == (0xff, 0xff) }
    if header.hasSeveralScans, !hasFill { compareCoefficients(file, header) }
  } else if lenient.error == nil, !lenient.hasWarning {
    // What is behind the last row is looked at only where damage matters.
    guard lenient.pixels.starts(with: strict.pixels) else { fatalError("no warning of \(strict)") }
  }
}

/// What reading came to: the rows before an error, and the error.
private struct Outcome: Equatable {
  var pixels: [UInt8] = []
  var error: String?
  var hasWarning = false
}

private func read(
  _ file: [UInt8], _ header: JPEGHeader, _ scale: JPEGScale, _ damage: DamagePolicy, _ piece: Int
) -> Outcome {
  var outcome = Outcome()
  do {
    let source = BytesSource(file, pieceByteCount: piece)
    let rows = try JPEGRows(source, header: header, scale: scale, damage: damage)
    while let row = try rows.nextRow() { outcome.pixels += row }
    outcome.hasWarning = rows.warning != nil
    guard outcome.pixels.count == 4 * rows.width * rows.height else { fatalError("too few rows") }
    guard rows.takenByteCount <= JPEGRows.byteCount(for: header, scale: scale) else { fatalError("too much memory") }
  } catch {
    outcome.error = "\(error)"
  }
  return outcome
}

private func compareCoefficients(_ file: [UInt8], _ header: JPEGHeader) {
  for component in 0..<header.componentCount {
    var width: UInt32 = 0, height: UInt32 = 0
    guard let expected = jref_coefficients(file, file.count, Int32(component), &width, &height) else { return }
    defer { free(expected) }
    guard let merged = try? JPEGMergedScans(BytesSource(file), header: header) else { fatalError("not read again") }
    let count = 64 * merged.blocks(component).width
    var row = 0
    while (try? merged.nextRow()) == true {
      for line in 0..<merged.blockRows(component) where row < merged.blocks(component).height {
        let wanted = UnsafeBufferPointer(start: expected + row * count, count: count)
        guard merged.coefficients(component, row: line).elementsEqual(wanted) else {
          fatalError("row \(row) of component \(component) has not the coefficients of libjpeg")
        }
        row += 1
      }
    }
    // At full scale all scans are decoded, and one that is not needed for a small picture may be damaged.
    if row < merged.blocks(component).height { return }
  }
}

func fuzzSeeds() -> [[UInt8]] {
  var makers: [JPEGMaker] = []
  for colors in [JREF_GRAY, JREF_YCC, JREF_YCCK] {
    for isProgressive in [false, true] {
      var maker = JPEGMaker(width: 35, height: 19, colors: colors)
      (maker.quality, maker.isProgressive) = (50, isProgressive)
      if colors == JREF_YCC { maker.sampling = [(2, 2), (1, 1), (1, 1)] }
      makers.append(maker)
      maker.restartInterval = 2
      makers.append(maker)
    }
  }
  var separate = JPEGMaker(width: 35, height: 19)
  separate.scans = (0..<3).map { JPEGMaker.scan([$0], 0...63, bits: 0, 0) }
  makers.append(separate)
  return makers.flatMap { maker in
    let file = maker.encode()
    return [[3] + file, [0xfc] + file]
  }
}
