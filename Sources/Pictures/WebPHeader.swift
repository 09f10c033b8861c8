/// What a WebP file says about its picture before the first pixel.
public struct WebPHeader: Sendable, Hashable {
  /// Pixels in a row.
  public let width: Int
  /// Rows in the picture.
  public let height: Int
  /// Whether the pixels are coded without loss: then libwebp needs all of them in memory, at their full size.
  public let isLossless: Bool
  /// Whether pixels may be transparent.
  public let hasAlpha: Bool
  /// How the picture has to be turned; width and height are those before that.
  public let orientation: PictureOrientation
  /// The bytes of its ICC profile, 0 if there is none. Rows come as they are stored, not converted.
  public let profileByteCount: Int
  /// The bytes of the file, by its own account.
  public let fileByteCount: Int

  /// Reads the header of the WebP picture that `source` holds. What stands behind the pixels is looked for too, but
  /// pixels are passed over.
  ///
  /// - Throws: `PictureError` for what is not a WebP file, is animated, or exceeds `limits`, and whatever `source` throws.
  public init(_ source: any PositionedSource, limits: WebPLimits = WebPLimits()) throws {
    let chunks = try WebPChunks(source)
    var frame: (width: Int, height: Int, isLossless: Bool, hasAlpha: Bool)?
    var canvas: (width: Int, height: Int)?
    var flags: UInt8 = 0
    var hasAlphaChunk = false
    var orientation: PictureOrientation?
    var profileByteCount = 0
    while frame == nil || flags & Flag.exif != 0, orientation == nil {
      // What is missing behind the pixels is no reason to refuse them here: reading them will say so.
      guard try Self.begin(chunks, isOptional: frame != nil) else { break }
      switch chunks.kind {
      case "VP8X":
        let data = try chunks.takeData(10)
        flags = data[0]
        canvas = (1 + Self.number(data, 4, bytes: 3), 1 + Self.number(data, 7, bytes: 3))
      case "VP8 " where frame == nil: frame = try Self.lossyFrame(chunks)
      case "VP8L" where frame == nil: frame = try Self.losslessFrame(chunks)
      case "ALPH": hasAlphaChunk = true
      case "ICCP": profileByteCount = chunks.remaining
      case "EXIF": orientation = (try? Self.orientation(chunks)) ?? .upright
      case "ANIM", "ANMF": throw PictureError.unsupported(file: source.name, kind: "an animated WebP picture")
      default: break
      }
    }
    guard let frame else { throw chunks.damaged("there are no pixels") }
    guard canvas.map({ $0 == (frame.width, frame.height) }) ?? true else {
      throw chunks.damaged("the pixels are not those of the canvas")
    }
    guard frame.width <= limits.side, frame.height <= limits.side else {
      throw PictureError.tooLarge(file: source.name, width: frame.width, height: frame.height, limit: limits.side)
    }
    (width, height, isLossless) = (frame.width, frame.height, frame.isLossless)
    hasAlpha = frame.hasAlpha || hasAlphaChunk
    self.orientation = orientation ?? .upright
    self.profileByteCount = profileByteCount
    fileByteCount = chunks.end
  }

  /// Flags of the extended format.
  private enum Flag {
    static let exif: UInt8 = 8
  }

  private static func begin(_ chunks: WebPChunks, isOptional: Bool) throws -> Bool {
    do {
      return try chunks.begin()
    } catch PictureError.truncated where isOptional {
      return false
    }
  }

  private static func number(_ data: UnsafeRawBufferPointer, _ offset: Int, bytes: Int) -> Int {
    (0..<bytes).reduce(0) { $0 | Int(data[offset + $1]) << (8 * $1) }
  }

  /// The size in the first bytes of a key frame (RFC 6386, 9.1).
  private static func lossyFrame(_ chunks: WebPChunks) throws -> (Int, Int, Bool, Bool) {
    let data = try chunks.takeData(10)
    guard data[0] & 1 == 0, data[3...5].elementsEqual([0x9d, 0x01, 0x2a]) else {
      throw chunks.damaged("the pixels do not begin with a key frame")
    }
    let (width, height) = (number(data, 6, bytes: 2) & 0x3fff, number(data, 8, bytes: 2) & 0x3fff)
    guard width > 0, height > 0 else { throw chunks.damaged("\(width) x \(height) pixels") }
    return (width, height, false, false)
  }

  /// The size in the first bytes of lossless pixels (WebP lossless bitstream specification, 3).
  private static func losslessFrame(_ chunks: WebPChunks) throws -> (Int, Int, Bool, Bool) {
    let data = try chunks.takeData(5)
    let bits = number(data, 1, bytes: 4)
    guard data[0] == 0x2f, bits >> 29 == 0 else { throw chunks.damaged("the pixels are of an unknown kind") }
    return (1 + bits & 0x3fff, 1 + (bits >> 14) & 0x3fff, true, bits >> 28 & 1 == 1)
  }

  /// EXIF data come with the name that they have in JPEG files or, as they should, without.
  private static func orientation(_ chunks: WebPChunks) throws -> PictureOrientation? {
    guard chunks.remaining >= 8 else { return nil }
    let bytes = MemoryExif(try chunks.takeRest())
    if try bytes.takeData(6).elementsEqual("Exif\0\0".utf8) { return try bytes.takeOrientation() }
    bytes.rewind()
    return try bytes.takeOrientation()
  }
}

extension WebPHeader {
  /// Reads the ICC profile of the picture that `source` holds; nil if it has none.
  ///
  /// - Parameter limit: The most bytes that it may have.
  /// - Throws: `PictureError.unsupported` for a larger one, and what `init(_:limits:)` throws.
  public func profile(from source: any PositionedSource, limit: Int = 4 << 20) throws -> [UInt8]? {
    guard profileByteCount > 0 else { return nil }
    guard profileByteCount <= limit else {
      throw PictureError.unsupported(file: source.name, kind: "a colour profile of \(profileByteCount) bytes")
    }
    let chunks = try WebPChunks(source)
    while try chunks.begin() {
      if chunks.kind == "ICCP" { return try chunks.takeRest() }
    }
    return nil
  }
}

/// EXIF data in memory.
private final class MemoryExif: ExifBytes {
  private let bytes: [UInt8]
  private var position = 0
  private let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 16, alignment: 16)

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  deinit { piece.deallocate() }

  var remaining: Int { bytes.count - position }

  func rewind() { position = 0 }

  func takeData(_ count: Int) throws -> UnsafeRawBufferPointer {
    piece.copyBytes(from: bytes[position..<position + count])
    position += count
    return UnsafeRawBufferPointer(rebasing: piece[..<count])
  }

  func skipData(_ count: Int) throws { position += count }
}

/// How much a WebP file may ask for before it is refused.
public struct WebPLimits: Sendable, Hashable {
  /// The most pixels that a side may have. The format allows no more than 16 384.
  public var side: Int
  /// The most bytes that decoding may take, the pixels included: lossless pictures need all their pixels, and a few bytes
  /// can claim a gigabyte of them.
  public var byteCount: Int

  /// Makes limits; the defaults are 16 384 pixels a side, and 256 MB.
  public init(side: Int = 16_384, byteCount: Int = 256 << 20) {
    self.side = side
    self.byteCount = byteCount
  }
}
