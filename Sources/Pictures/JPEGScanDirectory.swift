/// Where the scans of a JPEG picture lie, and what they are decoded with.
///
/// Finding them takes reading the file once, looking for markers only. The scans have to be in an order in which each
/// adds something: bits to coefficients that have all bits above. So how often a coefficient can be gone through is
/// bounded, whatever a file claims.
struct JPEGScanDirectory {
  private(set) var scans: [JPEGScan] = []
  /// The quantisation table of each component, in zigzag order, as it was where its first scan began.
  private(set) var quantization: [[UInt16]]
  /// What was wrong behind the last scan, where that does not matter.
  private(set) var warning: PictureError?

  private let header: JPEGHeader
  private var tables = JPEGTables()
  /// By component and coefficient, the lowest bit that is known; nil for none.
  private var known: [[Int?]]

  /// Bytes of the file that are read at a time.
  private static let windowByteCount = 8 << 10

  /// Finds the scans of the picture that `source` holds.
  ///
  /// - Throws: `PictureError.changed` when it has another header now, `.unsupported` for more scans than `limits` allow,
  ///   and other `PictureError`s naming file, place and reason.
  init(_ source: any PositionedSource, header: JPEGHeader, damage: DamagePolicy, limits: JPEGLimits) throws {
    self.header = header
    quantization = Array(repeating: [], count: header.components.count)
    known = Array(repeating: Array(repeating: nil, count: 64), count: header.components.count)
    let window = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.windowByteCount, alignment: 16)
    defer { window.deallocate() }
    let markers = try JPEGMarkers(source, window: window)
    do {
      try takeAll(markers, damage, limits)
    } catch let error as PictureError where damage == .showWhatThereIs && error.isOfTheFile && isDecodable {
      warning = error
    }
    guard isDecodable else { throw markers.damaged("there are components without pixels") }
  }

  private var isDecodable: Bool { known.allSatisfy { $0[0] != nil } }

  private mutating func takeAll(_ markers: JPEGMarkers, _ damage: DamagePolicy, _ limits: JPEGLimits) throws {
    var prelude = JPEGPrelude()
    while true {
      let code = try markers.begin()
      switch code {
      case JPEGMarkers.Code.end where !scans.isEmpty: return
      case JPEGMarkers.Code.scan:
        guard scans.count < limits.scanCount else {
          throw markers.unsupported("JPEG with more than \(limits.scanCount) scans")
        }
        try takeScan(markers, damage)
        if scans.count == 1 {
          prelude.firstScanComponentCount = scans[0].components.count
          guard try prelude.header(markers, limits: limits) == header else {
            throw PictureError.changed(file: markers.name)
          }
        }
      default:
        // Markers of metadata that stand between scans are nobody's business.
        if try !tables.take(code, markers), scans.isEmpty { try prelude.take(code, from: markers) }
      }
    }
  }

  private mutating func takeScan(_ markers: JPEGMarkers, _ damage: DamagePolicy) throws {
    var scan = try JPEGScan(markers, of: header, tables)
    for component in scan.components {
      let isFirst = known[component][0] == nil
      guard !isFirst || scan.hasDC else { throw markers.damaged("a scan adds to one that is missing") }
      for coefficient in scan.coefficients {
        guard known[component][coefficient] == (scan.high == 0 ? nil : scan.high) else {
          throw markers.damaged("scans that do not follow on each other")
        }
        known[component][coefficient] = scan.low
      }
      guard isFirst else { continue }
      guard let table = tables.quantization[Int(header.components[component].quantization)] else {
        throw markers.damaged("there is no quantisation table of a component")
      }
      quantization[component] = table
    }
    let start = markers.position + markers.remaining
    scan.data = start..<max(start, try markers.skipScan(isLenient: damage == .showWhatThereIs))
    if damage == .refuse { try checkPlausible(scan, markers) }
    scans.append(scan)
  }

  /// Refuses a scan that is too short for what it claims: a first coefficient takes one bit at least, and where all
  /// others come with it, they take another.
  private func checkPlausible(_ scan: JPEGScan, _ markers: JPEGMarkers) throws {
    guard scan.hasDC else { return }
    let geometry = JPEGGeometry(header)
    let blocks = scan.components.reduce(0) { sum, component in
      let (width, height) = geometry.blocks(header.components[component])
      return sum + width * height
    }
    let least = blocks / (header.isProgressive ? 8 : 4)
    guard scan.data.count < least else { return }
    throw markers.damaged(
      "\(scan.data.count) bytes for \(header.width) x \(header.height) pixels, which take \(least) at least")
  }
}
