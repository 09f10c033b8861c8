/// How a picture is read.
public struct PictureReading: Sendable, Hashable {
  /// The filter for both sides; nil for the one that suits each.
  public var filter: ResamplingFilter?
  /// What is added up where pixels are mixed.
  public var light: ResamplingLight
  /// What becomes of a file that is cut off or damaged.
  public var damage: DamagePolicy
  /// Whether colours of an ICC profile become those of sRGB. Inks with a profile are not converted by it, but as those
  /// without one; nor are gAMA and cHRM of PNG files applied.
  public var convertsProfile: Bool

  /// Makes a way of reading; by default damage is an error, and photos look as their profiles say.
  public init(
    filter: ResamplingFilter? = nil, light: ResamplingLight = .gamma, damage: DamagePolicy = .refuse,
    convertsProfile: Bool = true
  ) {
    self.filter = filter
    self.light = light
    self.damage = damage
    self.convertsProfile = convertsProfile
  }
}

extension Picture {
  /// The largest size, of at least one pixel a side, that has the proportions of the upright picture and fits into another;
  /// never larger than the picture.
  public func size(fitting width: Int, _ height: Int) -> (width: Int, height: Int) {
    precondition(width > 0 && height > 0, "a picture has at least one pixel")
    if self.width <= width, self.height <= height { return (self.width, self.height) }
    func scaled(_ side: Int, _ target: Int, _ whole: Int) -> Int { max(1, (2 * side * target + whole) / (2 * whole)) }
    if self.width * height >= self.height * width {
      return (width, scaled(self.height, width, self.width))
    }
    return (scaled(self.width, height, self.height), height)
  }

  /// The bytes that reading the whole picture into memory takes: its upright pixels and the decoder.
  public var wholeByteCount: Int { 4 * width * height + stored().decoderByteCount }

  /// The bytes that reading its rows takes, as they are stored.
  public var rowByteCount: Int { 4 * storedWidth + stored().decoderByteCount }

  /// The bytes that reading it at another upright size takes: the smaller pixels, the decoder, and what makes the one of
  /// the other. Where rows need not be kept, it takes less.
  public func byteCount(width: Int, height: Int) -> Int {
    4 * width * height + stored(width: width, height: height).decoderByteCount
  }

  /// The picture as it is stored, at a size that is what `width` x `height` are when it is upright; at its own without.
  ///
  /// The decoder gives as small a picture as it can without losing anything, and that is resampled while it is decoded.
  /// Decodes nothing now.
  public func stored(
    width: Int? = nil, height: Int? = nil, reading: PictureReading = PictureReading()
  ) -> StoredPicture {
    let wanted = orientation.uprightSize(width: width ?? self.width, height: height ?? self.height)
    let decoded = decodedSize(wanted)
    let extent = extent(decoded)
    let isResampled = extent != (8 * wanted.width, 8 * wanted.height)
    var byteCount = decoderByteCount(decoded)
    if isResampled {
      byteCount += ResampledRows.byteCount(from: decoded, to: wanted, reading.filter, light: reading.light)
    }
    if hasProfile, reading.convertsProfile { byteCount += ColorProfile.byteCount + 4 * decoded.width }
    return StoredPicture(orientation, width: wanted.width, height: wanted.height, decoderByteCount: byteCount) {
      let rows = try converted(open(decoded, reading.damage), reading)
      guard isResampled else { return rows }
      return ResampledRows(
        rows, extent: extent, width: wanted.width, height: wanted.height, filter: reading.filter, light: reading.light)
    }
  }

  /// Refuses a file that has fewer bytes than its pixels must take, before anything is set up for them.
  func checkPlausible() throws {
    switch header {
    case .png(let header): try PNGPictureRows.checkPlausible(header, source())
    case .jpeg(let header): try JPEGRows.checkPlausible(header, source())
    case .webp(let header): try WebPRows.checkPlausible(header, source())
    }
  }

  /// The smallest size that the decoder gives without losing anything of the size wanted.
  private func decodedSize(_ wanted: (width: Int, height: Int)) -> (width: Int, height: Int) {
    switch header {
    case .png: return (storedWidth, storedHeight)
    case .jpeg(let header):
      let scale = JPEGScale(of: header, atLeast: wanted.width, wanted.height)
      return (scale.scaled(storedWidth), scale.scaled(storedHeight))
    case .webp:
      // libwebp takes means, as is right for large reductions.
      let isSmall = storedWidth >= 2 * wanted.width && storedHeight >= 2 * wanted.height
      return isSmall ? wanted : (storedWidth, storedHeight)
    }
  }

  /// How much of what is decoded is the picture, in eighths of a pixel: of a JPEG picture's last blocks, which are decoded
  /// as a whole, a part lies beyond its edges.
  private func extent(_ decoded: (width: Int, height: Int)) -> (width: Int, height: Int) {
    guard case .jpeg(let header) = header else { return (8 * decoded.width, 8 * decoded.height) }
    let eighths = JPEGScale(of: header, atLeast: decoded.width, decoded.height).eighths
    return (storedWidth * eighths, storedHeight * eighths)
  }

  private func decoderByteCount(_ decoded: (width: Int, height: Int)) -> Int {
    switch header {
    case .png(let header): PNGPictureRows.byteCount(for: header)
    case .jpeg(let header):
      JPEGRows.byteCount(for: header, scale: JPEGScale(of: header, atLeast: decoded.width, decoded.height))
    case .webp(let header): WebPRows.byteCount(for: header, width: decoded.width, height: decoded.height)
    }
  }

  private func open(_ decoded: (width: Int, height: Int), _ damage: DamagePolicy) throws -> any PictureRows {
    switch header {
    case .png(let header): return try PNGPictureRows(header: header, damage: damage, open: source)
    case .jpeg(let header):
      let scale = JPEGScale(of: header, atLeast: decoded.width, decoded.height)
      return try JPEGRows(source(), header: header, scale: scale, damage: damage)
    case .webp(let header):
      return try WebPRows(
        source(), header: header, width: decoded.width, height: decoded.height, damage: damage,
        limits: WebPLimits(side: limits.side, byteCount: limits.byteCount))
    }
  }

  private func converted(_ rows: any PictureRows, _ reading: PictureReading) throws -> any PictureRows {
    guard hasProfile, reading.convertsProfile, let bytes = try profile() else { return rows }
    let profile: ColorProfile
    do {
      profile = try ColorProfile(bytes, of: name)
    } catch {
      // What is beside the pixels cannot make them unreadable.
      guard case .unsupported = error else { throw error }
      return rows
    }
    if profile.isAlmostSRGB || profile.isGray && hasColor { return rows }
    return ConvertedRows(rows, profile)
  }

  /// Whether there may be pixels that are not grey.
  private var hasColor: Bool {
    switch header {
    case .png(let header): header.colorType != .grayscale && header.colorType != .grayscaleAlpha
    case .jpeg(let header): header.componentCount > 1
    case .webp: true
    }
  }

  /// Reads the ICC profile; nil without one, for inks, and where it is damaged.
  ///
  /// - Throws: `PictureError.unsupported` for one of more than 4 MB, and what opening the file throws.
  public func profile() throws -> [UInt8]? {
    switch header {
    case .png: return try PNGReader(SequentialSource(source()), limits: PNGLimits(side: limits.side)).profile()
    case .jpeg(let header): return header.componentCount == 4 ? nil : try header.profile(from: source())
    case .webp(let header): return try header.profile(from: source())
    }
  }
}
