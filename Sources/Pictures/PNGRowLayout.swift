internal import CPNGRows

/// What a row reader keeps between rows, and what it works in, divided. Every area begins at a multiple of 16.
struct PNGRowLayout {
  /// The parts of what is kept.
  struct Kept {
    let state: UnsafeMutableRawPointer
    /// The row that was read last.
    let row: UnsafeMutablePointer<UInt8>
    /// Colours of indexed pixels, otherwise empty.
    let palette: UnsafeMutableRawBufferPointer
  }

  /// The parts of a scratch.
  struct Scratch {
    let window: UnsafeMutableRawBufferPointer
    /// A row as it is inflated: its first pixel, before which there is a byte for its filter.
    let filtered: UnsafeMutablePointer<UInt8>
    /// A row as it is given out; empty if that is as it is in the file.
    let expanded: UnsafeMutableRawBufferPointer
  }

  /// Bytes of a row in the file, without its filter.
  let rowByteCount: Int
  /// Bytes of a pixel in the file.
  let pixelByteCount: Int
  /// The most bytes that the file may have: 16 for each byte of its rows, and 64 MB.
  ///
  /// Pixels in chunks of a single byte take 13. Beside them there is room for what other programs keep in a file, but
  /// not for what is larger still without being one.
  let mostFileBytes: Int
  /// Bytes of what is kept.
  let byteCount: Int
  /// Bytes of a scratch.
  let scratchByteCount: Int

  private let stateByteCount: Int
  private let paletteByteCount: Int
  private let expandedByteCount: Int

  /// Bytes of the file that are read at a time. Half as many made inflating 3 in 100 slower, twice as many no faster.
  static let windowByteCount = 8 << 10

  init(_ header: PNGHeader, format: PNGRowReader.Format, inflater: cpr_inflater) {
    pixelByteCount = header.colorType.channelCount * header.bitDepth / 8
    rowByteCount = pixelByteCount * header.width
    // With limits raised far enough, sides alone can exceed 64 bits.
    mostFileBytes = 16 * header.height * min(rowByteCount + 1, Int.max / 32 / header.height) + (64 << 20)
    stateByteCount = Self.aligned(cpr_inflater_byte_count(inflater))
    paletteByteCount = header.colorType == .indexed ? PNGColors.paletteByteCount : 0
    let isGivenOutAsItIs = header.colorType == .truecolorAlpha && header.bitDepth == 8 && format == .rgba8
    expandedByteCount = isGivenOutAsItIs ? 0 : Self.aligned(format.pixelByteCount * header.width)
    let rowAndMargin = Self.aligned(rowByteCount + Int(CPR_ROW_MARGIN))
    byteCount = stateByteCount + rowAndMargin + paletteByteCount
    scratchByteCount = Self.windowByteCount + Self.filterByteCount + rowAndMargin + expandedByteCount
  }

  /// Divides memory to be kept, and makes the row zero: the one above the first counts as that.
  ///
  /// - Precondition: The memory has `byteCount` bytes and is aligned to 16.
  func kept(_ memory: UnsafeMutableRawBufferPointer) -> Kept {
    precondition(memory.count >= byteCount, "a row reader needs \(byteCount) bytes, and has \(memory.count)")
    precondition(Int(bitPattern: memory.baseAddress) % 16 == 0, "a row reader's memory must be aligned to 16")
    // Not empty, as no state is.
    let state = memory.baseAddress!
    let row = (state + stateByteCount).assumingMemoryBound(to: UInt8.self)
    row.initialize(repeating: 0, count: byteCount - stateByteCount - paletteByteCount)
    return Kept(
      state: state, row: row,
      palette: UnsafeMutableRawBufferPointer(rebasing: memory[..<byteCount].suffix(paletteByteCount)))
  }

  /// Divides the memory of a scratch.
  ///
  /// - Precondition: It has at least `scratchByteCount` bytes.
  func areas(of scratch: PNGRowScratch) -> Scratch {
    let memory = scratch.memory
    precondition(memory.count >= scratchByteCount, "the scratch has \(memory.count) bytes of \(scratchByteCount)")
    // Not empty, as no window is.
    let filtered = memory.baseAddress! + Self.windowByteCount + Self.filterByteCount
    return Scratch(
      window: UnsafeMutableRawBufferPointer(rebasing: memory[..<Self.windowByteCount]),
      filtered: filtered.assumingMemoryBound(to: UInt8.self),
      expanded: UnsafeMutableRawBufferPointer(rebasing: memory[..<scratchByteCount].suffix(expandedByteCount)))
  }

  /// What precedes a row so that its first pixel is aligned: the filter is the last byte of it.
  private static let filterByteCount = 16

  private static func aligned(_ count: Int) -> Int { (count + 15) & ~15 }
}
