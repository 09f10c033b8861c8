internal import CPNGRows
internal import CSpng

/// What a PNG file says beside its pixels, and before them. Of what it says about colours nothing is applied unless that is
/// asked for.
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

  /// Reads what precedes the pixels of the picture that `source` holds.
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
        self.orientation = orientation ?? .upright
        return
      case .gamma where chunks.remaining == 4:
        gamma = try chunks.takeData { Int(UInt32(bigEndian: $0.loadUnaligned(as: UInt32.self))) }
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
}

extension PNGChunks.Kind {
  fileprivate static let gamma = Self(code: 0x6741_4d41)
  fileprivate static let chromaticities = Self(code: 0x6348_524d)
  fileprivate static let profile = Self(code: 0x6943_4350)
  fileprivate static let exif = Self(code: 0x6558_4966)
}
