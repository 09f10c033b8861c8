import JPEGReference
import Pictures
import TestSupport
import Testing

/// Files in several scans of every kind.
enum JPEGScanKinds {
  static let all: [(name: String, maker: JPEGMaker)] = JPEGKinds.all.flatMap { kind in
    var usual = kind.maker
    usual.isProgressive = true
    var separate = kind.maker
    separate.scans = components(kind.maker).map { JPEGMaker.scan([$0], 0...63, bits: 0, 0) }
    var fine = kind.maker
    fine.scans = slowly(kind.maker)
    // Of a single component, all in one scan is no picture in several scans.
    return [("\(kind.name), as usual", usual), ("\(kind.name), slowly", fine)]
      + (kind.maker.colors == JREF_GRAY ? [] : [("\(kind.name), component by component", separate)])
  }

  static func file(_ name: String) throws -> [UInt8] { try #require(all.first { $0.name == name }).maker.encode() }

  private static func components(_ maker: JPEGMaker) -> [Int32] { (0..<Int32(maker.channels)).map { $0 } }

  /// Few coefficients at a time, bit by bit.
  private static func slowly(_ maker: JPEGMaker) -> [jref_scan] {
    let all = components(maker)
    var scans = [JPEGMaker.scan(all, 0...0, bits: 0, 2)]
    for component in all {
      scans += [1...1, 2...9, 10...63].map { JPEGMaker.scan([component], $0, bits: 0, 3) }
      scans += [3, 2].map { JPEGMaker.scan([component], 1...63, bits: $0, $0 - 1) }
    }
    scans += [JPEGMaker.scan(all, 0...0, bits: 2, 1), JPEGMaker.scan([all[0]], 0...0, bits: 1, 0)]
    scans += all.reversed().map { JPEGMaker.scan([$0], 1...63, bits: 1, 0) }
    return scans
  }
}

@Suite struct JPEGScanTests {
  /// All coefficients of a component, as the merged scans have them.
  static func coefficients(_ file: [UInt8], _ component: Int) throws -> [Int16] {
    let source = BytesSource(file), header = try JPEGHeader(source)
    let merged = try JPEGMergedScans(source, header: header)
    let blocks = merged.blocks(component)
    var result: [Int16] = []
    while try merged.nextRow() {
      var row = 0
      while row < merged.blockRows(component), result.count < 64 * blocks.width * blocks.height {
        result += merged.coefficients(component, row: row)
        row += 1
      }
    }
    return result
  }

  static func expectedCoefficients(_ file: [UInt8], _ component: Int) -> [Int16] {
    var width: UInt32 = 0, height: UInt32 = 0
    let result = jref_coefficients(file, file.count, Int32(component), &width, &height)
    defer { free(result) }
    return Array(UnsafeBufferPointer(start: result, count: 64 * Int(width) * Int(height)))
  }

  @Test("coefficients are those of jpeg_read_coefficients", arguments: JPEGScanKinds.all.map(\.name))
  func coefficientsAreTheLibrarys(kind: String) throws {
    let file = try JPEGScanKinds.file(kind)
    let maker = try #require(JPEGScanKinds.all.first { $0.name == kind }).maker
    #expect(try JPEGHeader(BytesSource(file)).hasSeveralScans)
    for component in 0..<maker.channels {
      let isEqual = try Self.coefficients(file, component) == Self.expectedCoefficients(file, component)
      #expect(isEqual, "component \(component)")
    }
  }

  @Test("rows are what libjpeg makes of the whole, at several scales", arguments: JPEGScanKinds.all.map(\.name))
  func equalsTheWhole(kind: String) throws {
    let file = try JPEGScanKinds.file(kind)
    for eighths in [1, 2, 5, 8] {
      let scale = JPEGScale(eighths: eighths)
      let isEqual = try readJPEG(file, scale) == JPEGReferencePicture(file, scale).pixels
      #expect(isEqual, "at \(eighths) eighths")
    }
  }

  @Test func howTheSourceCutsItselfInPiecesDoesNotMatter() throws {
    let file = try JPEGScanKinds.file("4:2:0, as usual")
    let expected = try readJPEG(file)
    for count in [1, 7, 100_000] {
      let isEqual = try readJPEG(file, pieceByteCount: count) == expected
      #expect(isEqual, "in pieces of \(count)")
    }
  }

  @Test("the largest coefficients that there can be", arguments: [JREF_GRAY, JREF_YCC])
  func extremes(colors: jref_colors) throws {
    var maker = JPEGMaker(width: 64, height: 64, colors: colors)
    (maker.quality, maker.isProgressive) = (100, true)
    var random = SeededGenerator(seed: 7)
    let file = maker.encode((0..<64 * 64 * maker.channels).map { _ in random.next() % 2 == 0 ? 0 : 255 })
    for component in 0..<maker.channels {
      let isEqual = try Self.coefficients(file, component) == Self.expectedCoefficients(file, component)
      #expect(isEqual)
    }
    let isEqual = try readJPEG(file) == JPEGReferencePicture(file).pixels
    #expect(isEqual)
  }

  @Test func whatIsTooSmallToBeSeenIsNotRead() throws {
    var maker = JPEGMaker(width: 1_600, height: 400, colors: JREF_GRAY)
    maker.isProgressive = true
    let file = maker.encode()
    func bytesRead(_ eighths: Int) throws -> Int {
      let source = BytesSource(file, pieceByteCount: 4_096)
      _ = try readRows(JPEGRows(source, header: JPEGHeader(source), scale: JPEGScale(eighths: eighths)))
      return source.bytesGiven - file.count
    }
    // Beside the search for scans, which reads the file once.
    #expect(try bytesRead(2) > file.count * 9 / 10)
    #expect(try bytesRead(1) < file.count / 2)
  }

  @Test func memoryIsOneRowOfBlocksAndTheScans() throws {
    var maker = JPEGMaker(width: 800, height: 40)
    maker.isProgressive = true
    func byteCount(height: Int) throws -> Int {
      maker.height = height
      return JPEGRows.byteCount(for: try JPEGHeader(BytesSource(maker.encode())), scale: JPEGScale(eighths: 1))
    }
    #expect(try byteCount(height: 40) == byteCount(height: 400))
    // Of it, a hundred scans take 0.3 MB.
    #expect(try byteCount(height: 400) < 700_000)
  }
}
