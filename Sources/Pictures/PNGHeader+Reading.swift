internal import CPNGRows

extension PNGHeader {
  /// Reads the header of the PNG picture that `source` holds, and nothing else.
  ///
  /// Asks for 64 bytes at most and takes no memory, so that the sizes of a thousand layers can be asked for at little
  /// cost.
  ///
  /// - Throws: `PictureError` for what is not a PNG file or exceeds `limits`, and whatever `source` throws.
  public init(_ source: any PositionedSource, limits: PNGLimits = PNGLimits()) throws {
    self = try withUnsafeTemporaryAllocation(byteCount: PNGChunks.leastWindowByteCount, alignment: 16) { window in
      let chunks = PNGChunks(source, inflater: CPR_SMALL)
      chunks.attach(window)
      return try chunks.takeHeader(limits: limits)
    }
  }
}

extension PNGChunks {
  /// Takes the signature and the header chunk (PNG specification, 5.2 and 11.2.1).
  func takeHeader(limits: PNGLimits) throws -> PNGHeader {
    stage = .header
    try takeSignature()
    try begin()
    guard kind == .header, remaining == 13 else { throw damaged("the first chunk is not a header") }
    let header = try takeData(header)
    guard header.width <= limits.side, header.height <= limits.side else {
      throw PictureError.tooLarge(file: name, width: header.width, height: header.height, limit: limits.side)
    }
    return header
  }

  private func header(_ data: UnsafeRawBufferPointer) throws -> PNGHeader {
    let width = UInt32(bigEndian: data.loadUnaligned(as: UInt32.self))
    let height = UInt32(bigEndian: data.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
    let sides = 1...UInt32(Int32.max)
    guard sides.contains(width), sides.contains(height) else { throw damaged("\(width) x \(height) pixels") }
    let depth = Int(data[8])
    guard let colorType = PNGHeader.ColorType(rawValue: data[9]), colorType.bitDepths.contains(depth) else {
      throw damaged("colour type \(data[9]) with bit depth \(depth)")
    }
    guard data[10] == 0, data[11] == 0, data[12] <= 1 else {
      throw damaged("compression \(data[10]), filter \(data[11]), interlacing \(data[12])")
    }
    return PNGHeader(
      width: Int(width), height: Int(height), bitDepth: depth, colorType: colorType, isInterlaced: data[12] == 1)
  }
}

extension PNGHeader.ColorType {
  /// What the specification allows (table 11.1).
  fileprivate var bitDepths: [Int] {
    switch self {
    case .grayscale: [1, 2, 4, 8, 16]
    case .indexed: [1, 2, 4, 8]
    case .truecolor, .grayscaleAlpha, .truecolorAlpha: [8, 16]
    }
  }

  /// Samples a pixel.
  var channelCount: Int {
    switch self {
    case .grayscale, .indexed: 1
    case .grayscaleAlpha: 2
    case .truecolor: 3
    case .truecolorAlpha: 4
    }
  }
}
