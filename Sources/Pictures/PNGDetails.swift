internal import CPNGRows
internal import CSpng

/// What a PNG file says beside its pixels. Of what it says about colours nothing is applied unless that is asked for.
public struct PNGDetails: Sendable, Hashable {
  /// The gamma of the chunk gAMA, times 100 000; nil without one. Reported only: most files that have it are meant to be
  /// shown as everybody shows them.
  public let gamma: Int?
  /// Whether there is a chunk cHRM. Reported only.
  public let hasChromaticities: Bool
  /// Whether there is an ICC profile, in a chunk iCCP.
  public let hasProfile: Bool
  /// Whether there is a chunk tRNS, which makes some pixels transparent.
  public let hasTransparency: Bool
  /// How the picture is to be turned, as the EXIF data of a chunk eXIf say (PNG, third edition, 11.3.4.5).
  public let orientation: PictureOrientation

  /// Reads what precedes the pixels of the picture that `source` holds, and passes over these in search of EXIF data.
  ///
  /// - Throws: As `PNGHeader(_:limits:)`.
  public init(_ source: any PositionedSource, limits: PNGLimits = PNGLimits()) throws {
    self = try withUnsafeTemporaryAllocation(byteCount: PNGChunks.leastWindowByteCount, alignment: 16) { window in
      let chunks = PNGChunks(source, inflater: CPR_SMALL)
      chunks.attach(window)
      // As many bytes as may be kept of it all, and as many again for what is passed over.
      chunks.mostBytes = 64 << 20
      _ = try chunks.takeHeader(limits: limits)
      chunks.stage = .prelude
      return try Self(chunks)
    }
  }

  private init(_ chunks: PNGChunks) throws {
    var (gamma, hasChromaticities, hasProfile, hasTransparency) = (nil as Int?, false, false, false)
    var orientation: PictureOrientation?
    while true {
      try chunks.begin()
      switch chunks.kind {
      case .pixels, .end:
        (self.gamma, self.hasChromaticities) = (gamma, hasChromaticities)
        (self.hasProfile, self.hasTransparency) = (hasProfile, hasTransparency)
        self.orientation = try orientation ?? Self.orientationFurtherOn(chunks) ?? .upright
        return
      case .gamma where chunks.remaining == 4:
        gamma = Int(UInt32(bigEndian: try chunks.takeData(4).loadUnaligned(as: UInt32.self)))
        chunks.skip()
      case .chromaticities:
        hasChromaticities = true
        chunks.skip()
      case .profile:
        hasProfile = true
        chunks.skip()
      case .transparency:
        hasTransparency = true
        chunks.skip()
      case .exif where orientation == nil:
        orientation = try chunks.takeOrientation()
        chunks.skip()
      default: chunks.skip()
      }
    }
  }

  /// The most chunks that are passed over in search of EXIF data: 512 MB of pixels, in the smallest that are usual.
  private static let mostChunksFurtherOn = 1 << 16

  /// The orientation that EXIF data behind the pixels say, where ImageMagick writes them.
  ///
  /// Nil without them, and where the file ends or is damaged before: whoever decodes it says so. Reads the beginning of each
  /// chunk.
  private static func orientationFurtherOn(_ chunks: PNGChunks) throws -> PictureOrientation? {
    // What is passed over costs by the chunk, however long it is.
    chunks.mostBytes = .max
    do {
      for _ in 0..<mostChunksFurtherOn {
        if chunks.kind == .end { return nil }
        if chunks.kind == .exif { return try chunks.takeOrientation() }
        chunks.skip()
        try chunks.begin()
      }
    } catch let error as PictureError where error.isOfTheFile {}
    return nil
  }
}

extension PNGChunks.Kind {
  fileprivate static let gamma = Self(code: 0x6741_4d41)
  fileprivate static let chromaticities = Self(code: 0x6348_524d)
  fileprivate static let profile = Self(code: 0x6943_4350)
  fileprivate static let exif = Self(code: 0x6558_4966)
}
