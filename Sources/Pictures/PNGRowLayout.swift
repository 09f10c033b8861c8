internal import CPNGRows

/// How a row reader divides the memory that it is given. Every area begins at a multiple of 16.
struct PNGRowLayout {
  /// The parts of the memory.
  struct Areas {
    let state: UnsafeMutableRawPointer
    let window: UnsafeMutableRawBufferPointer
    /// Two rows, each preceded by a byte for its filter, which nothing else uses.
    let rows: (UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<UInt8>)
    /// A row as it is given out; empty if that is as it is in the file.
    let expanded: UnsafeMutableRawBufferPointer
    /// Colours of indexed pixels, otherwise empty.
    let palette: UnsafeMutableRawBufferPointer
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
  /// Bytes of the whole memory.
  let byteCount: Int

  private let header: PNGHeader
  private let stateByteCount: Int
  private let paletteByteCount: Int
  private let expandedByteCount: Int

  /// Bytes of the file that are read at a time. Half as many made inflating 3 in 100 slower, twice as many no faster.
  private static let windowByteCount = 8 << 10

  init(_ header: PNGHeader, format: PNGRowReader.Format, inflater: cpr_inflater) {
    self.header = header
    pixelByteCount = header.colorType.channelCount * header.bitDepth / 8
    rowByteCount = pixelByteCount * header.width
    // With limits raised far enough, sides alone can exceed 64 bits.
    mostFileBytes = 16 * header.height * min(rowByteCount + 1, Int.max / 32 / header.height) + (64 << 20)
    stateByteCount = Self.aligned(cpr_inflater_byte_count(inflater))
    paletteByteCount = header.colorType == .indexed ? PNGColors.paletteByteCount : 0
    let isGivenOutAsItIs = header.colorType == .truecolorAlpha && header.bitDepth == 8 && format == .rgba8
    expandedByteCount = isGivenOutAsItIs ? 0 : Self.aligned(format.pixelByteCount * header.width)
    byteCount =
      stateByteCount + Self.windowByteCount + paletteByteCount + expandedByteCount
      + 2 * Self.aligned(Self.filterByteCount + rowByteCount + Int(CPR_ROW_MARGIN))
  }

  /// Divides memory, and makes both rows zero: the row above the first one counts as that.
  ///
  /// - Precondition: The memory has `byteCount` bytes and is aligned to 16.
  func areas(of memory: UnsafeMutableRawBufferPointer) -> Areas {
    precondition(memory.count >= byteCount, "a row reader needs \(byteCount) bytes, and has \(memory.count)")
    precondition(Int(bitPattern: memory.baseAddress) % 16 == 0, "a row reader's memory must be aligned to 16")
    var rest = memory[...]
    func take(_ count: Int) -> UnsafeMutableRawBufferPointer {
      defer { rest = rest.dropFirst(count) }
      return UnsafeMutableRawBufferPointer(rebasing: rest.prefix(count))
    }
    func takeRow() -> UnsafeMutablePointer<UInt8> {
      let area = take(Self.aligned(Self.filterByteCount + rowByteCount + Int(CPR_ROW_MARGIN)))
      area.initializeMemory(as: UInt8.self, repeating: 0)
      // Rows are not empty.
      return area.baseAddress!.assumingMemoryBound(to: UInt8.self) + Self.filterByteCount
    }
    return Areas(
      // Nor is a state.
      state: take(stateByteCount).baseAddress!, window: take(Self.windowByteCount), rows: (takeRow(), takeRow()),
      expanded: take(expandedByteCount), palette: take(paletteByteCount))
  }

  /// What precedes a row so that its first pixel is aligned: the filter is the last byte of it.
  private static let filterByteCount = 16

  private static func aligned(_ count: Int) -> Int { (count + 15) & ~15 }
}
