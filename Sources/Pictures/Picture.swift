/// The kinds of files that pictures are read from.
public enum PictureFormat: String, Sendable, Hashable, CaseIterable {
  /// PNG, third edition.
  case png
  /// JPEG with Huffman codes: baseline and progressive.
  case jpeg
  /// WebP: one picture, lossy or lossless.
  case webp
}

/// How much the file of a picture may ask for before it is refused.
public struct PictureLimits: Sendable, Hashable {
  /// The most pixels that a side may have.
  public var side: Int
  /// The most bytes that a decoder may take, where it can take many for a few bytes of a file.
  public var byteCount: Int

  /// Makes limits; the defaults are 65 535 pixels a side, and 256 MB.
  public init(side: Int = 65_535, byteCount: Int = 256 << 20) {
    self.side = side
    self.byteCount = byteCount
  }
}

/// A picture's file, as far as it can be known before a pixel is decoded: the one way in, whatever the file is.
///
/// Costs nothing to keep. Each reading opens the file again, on whichever thread reads.
public struct Picture: Sendable {
  /// What each format says.
  enum Header: Sendable, Hashable {
    case png(PNGHeader)
    case jpeg(JPEGHeader)
    case webp(WebPHeader)
  }

  /// What errors call the file.
  public let name: String
  /// The kind of the file, by its first bytes and not by its name.
  public let format: PictureFormat
  /// How it has to be turned, as its EXIF data say.
  public let orientation: PictureOrientation
  /// Its size as it is stored, in pixels.
  public let storedWidth, storedHeight: Int
  /// Bits a sample: 1 to 16.
  public let bitDepth: Int
  /// Whether pixels may be transparent, other than those that a damaged file lacks.
  public let hasAlpha: Bool
  /// Whether it has an ICC profile.
  public let hasProfile: Bool
  /// The gamma that a PNG file states, times 100 000; reported, not applied.
  public let gamma: Int?
  /// Whether a PNG file states chromaticities; reported, not applied.
  public let hasChromaticities: Bool

  let header: Header
  let limits: PictureLimits
  let source: @Sendable () throws -> any PositionedSource

  /// Its width when it is upright.
  public var width: Int { orientation.exchangesSides ? storedHeight : storedWidth }
  /// Its height when it is upright.
  public var height: Int { orientation.exchangesSides ? storedWidth : storedHeight }

  /// Reads what the file at `path` says about its picture, and no pixel.
  ///
  /// - Throws: `PictureError` naming file, place and reason: `.notPicture` for a file of another kind, `.tooLarge` for
  ///   more than `limits` allow.
  public static func open(_ path: BytePath, limits: PictureLimits = PictureLimits()) throws -> Picture {
    try Picture(limits: limits) { try FileSource(path) }
  }

  /// Reads what the picture that lies anywhere says about itself. `source` makes a source at its first byte.
  public init(
    limits: PictureLimits = PictureLimits(), source: @escaping @Sendable () throws -> any PositionedSource
  ) throws {
    let first = try source()
    name = first.name
    self.limits = limits
    self.source = source
    var details: PNGDetails?
    switch try Self.format(first) {
    case .png:
      let limits = PNGLimits(side: limits.side)
      let header = try PNGHeader(source(), limits: limits)
      let said = try PNGDetails(source(), limits: limits)
      details = said
      self.header = .png(header)
      (format, orientation, bitDepth) = (.png, said.orientation, header.bitDepth)
      (storedWidth, storedHeight) = (header.width, header.height)
      hasProfile = said.hasProfile
      let isOpaque = header.colorType != .truecolorAlpha && header.colorType != .grayscaleAlpha
      hasAlpha = !isOpaque || said.hasTransparency
    case .jpeg:
      let header = try JPEGHeader(source(), limits: JPEGLimits(side: min(limits.side, JPEGLimits().side)))
      self.header = .jpeg(header)
      (format, orientation, bitDepth, hasAlpha) = (.jpeg, header.orientation, header.bitDepth, false)
      (storedWidth, storedHeight) = (header.width, header.height)
      hasProfile = header.profileByteCount > 0
    case .webp:
      let header = try WebPHeader(source(), limits: WebPLimits(side: limits.side))
      self.header = .webp(header)
      (format, orientation, bitDepth, hasAlpha) = (.webp, header.orientation, 8, header.hasAlpha)
      (storedWidth, storedHeight) = (header.width, header.height)
      hasProfile = header.profileByteCount > 0
    }
    gamma = details?.gamma
    hasChromaticities = details?.hasChromaticities == true
  }

  /// Tells the kind of a file by its first bytes.
  private static func format(_ source: any PositionedSource) throws -> PictureFormat {
    try withUnsafeTemporaryAllocation(byteCount: 12, alignment: 16) { start in
      var count = 0
      while count < start.count {
        let read = try source.read(into: UnsafeMutableRawBufferPointer(rebasing: start[count...]), at: count)
        if read == 0 { break }
        count += read
      }
      if count == 0 { throw PictureError.empty(file: source.name) }
      let bytes = start[..<count]
      if bytes.starts(with: [0x89, 0x50, 0x4e, 0x47]) { return .png }
      if bytes.starts(with: [0xff, 0xd8]) { return .jpeg }
      if bytes.starts(with: "RIFF".utf8), bytes.dropFirst(8).starts(with: "WEBP".utf8) { return .webp }
      throw PictureError.notPicture(file: source.name)
    }
  }
}
