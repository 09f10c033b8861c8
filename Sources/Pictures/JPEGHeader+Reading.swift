extension JPEGHeader {
  /// Reads the header of the JPEG picture that `source` holds, up to where its pixels begin.
  ///
  /// Segments that nobody needs, as previews, are passed over. Asks for 512 bytes at a time and takes no memory.
  ///
  /// - Throws: `PictureError` for what is not a JPEG file, is of a kind that is not read, or exceeds `limits`, and
  ///   whatever `source` throws.
  public init(_ source: any PositionedSource, limits: JPEGLimits = JPEGLimits()) throws {
    self = try withUnsafeTemporaryAllocation(byteCount: JPEGMarkers.leastWindowByteCount, alignment: 16) { window in
      let markers = try JPEGMarkers(source, window: window)
      var prelude = JPEGPrelude()
      while true {
        let code = try markers.begin()
        if code == JPEGMarkers.Code.scan { break }
        try prelude.take(code, from: markers)
      }
      prelude.firstScanComponentCount = Int(try markers.takeByte())
      return try prelude.header(markers, limits: limits)
    }
  }
}

/// What precedes the pixels of a JPEG file, as far as it matters for them.
struct JPEGPrelude {
  private struct Frame {
    let isProgressive: Bool
    let width, height: Int
    let components: [JPEGHeader.Component]
  }

  private var frame: Frame?
  private var hasJFIF = false
  private var adobeTransform: UInt8?
  private var orientation: PictureOrientation?
  private var profileByteCount = 0
  /// How many components the first scan has: what it begins with says.
  var firstScanComponentCount = 0

  /// Takes a segment that has been begun.
  mutating func take(_ code: UInt8, from markers: JPEGMarkers) throws {
    switch code {
    case JPEGMarkers.Code.jfif:
      if try markers.takeName("JFIF\0") { hasJFIF = true }
    case JPEGMarkers.Code.exif:
      if try markers.takeName("Exif\0\0"), orientation == nil { orientation = try markers.takeOrientation() }
    case JPEGMarkers.Code.profile:
      // Behind the name: which part of how many it is.
      if try markers.takeName("ICC_PROFILE\0") { profileByteCount += max(0, markers.remaining - 2) }
    case JPEGMarkers.Code.adobe:
      if try markers.takeName("Adobe"), markers.remaining >= 7 {
        adobeTransform = try markers.takeData(7)[6]
      }
    case JPEGMarkers.Code.end:
      throw markers.damaged("there are no pixels")
    case _ where JPEGMarkers.Code.isFrame(code):
      guard frame == nil else { throw markers.unsupported("several pictures in layers") }
      frame = try Self.frame(code, markers)
    default: break
    }
  }

  private static func frame(_ code: UInt8, _ markers: JPEGMarkers) throws -> Frame {
    switch code {
    case 0xc0, 0xc1, 0xc2: break
    case 0xc3, 0xc7, 0xcb, 0xcf: throw markers.unsupported("lossless JPEG")
    case 0xc9, 0xca: throw markers.unsupported("JPEG with arithmetic coding")
    default: throw markers.unsupported("JPEG in a hierarchy of sizes")
    }
    let depth = try markers.takeByte()
    guard depth == 8 else { throw markers.unsupported("JPEG with \(depth) bits a sample") }
    let height = try markers.takeNumber(), width = try markers.takeNumber()
    // A height of 0 is told behind the first scan; nothing writes that but test files.
    guard width > 0, height > 0 else { throw markers.damaged("\(width) x \(height) pixels") }
    let count = Int(try markers.takeByte())
    guard [1, 3, 4].contains(count) else { throw markers.unsupported("JPEG with \(count) kinds of samples") }
    let components = try (0..<count).map { _ in
      let data = try markers.takeData(3)
      let across = Int(data[1] >> 4), down = Int(data[1] & 15)
      guard (1...4).contains(across), (1...4).contains(down), data[2] < 4 else {
        throw markers.damaged("components sampled \(across) x \(down), with table \(data[2])")
      }
      return JPEGHeader.Component(identifier: data[0], across: across, down: down, quantization: data[2])
    }
    guard Set(components.map(\.identifier)).count == count else { throw markers.damaged("components of the same name") }
    return Frame(isProgressive: code == 0xc2, width: width, height: height, components: components)
  }

  /// Puts together what has been taken.
  func header(_ markers: JPEGMarkers, limits: JPEGLimits) throws -> JPEGHeader {
    guard let frame else { throw markers.damaged("there are pixels before their size") }
    guard frame.width <= limits.side, frame.height <= limits.side else {
      throw PictureError.tooLarge(file: markers.name, width: frame.width, height: frame.height, limit: limits.side)
    }
    // Of a single component, blocks come one by one, whatever it is sampled (A.2.2).
    let components =
      frame.components.count == 1
      ? frame.components.map {
        JPEGHeader.Component(identifier: $0.identifier, across: 1, down: 1, quantization: $0.quantization)
      } : frame.components
    guard components.reduce(0, { $0 + $1.across * $1.down }) <= 10 else {
      throw markers.unsupported("JPEG with more than ten blocks in a unit")
    }
    return JPEGHeader(
      width: frame.width, height: frame.height, colors: colors(components), orientation: orientation ?? .upright,
      profileByteCount: profileByteCount, isProgressive: frame.isProgressive,
      hasSeveralScans: frame.isProgressive || firstScanComponentCount < components.count,
      adobeTransform: adobeTransform, components: components)
  }

  /// Which colours the components are, by the rules that everybody follows: JFIF's marker before Adobe's, Adobe's before
  /// the names of the components.
  private func colors(_ components: [JPEGHeader.Component]) -> JPEGHeader.Colors {
    switch components.count {
    case 1: .grayscale
    case 4: (adobeTransform ?? 0) == 0 ? .cmyk : .ycck
    case _ where hasJFIF: .ycc
    case _ where adobeTransform != nil: adobeTransform == 0 ? .rgb : .ycc
    default: components.map(\.identifier) == Array("RGB".utf8) ? .rgb : .ycc
    }
  }
}
