import JPEGReference
import Pictures
import TestSupport
import Testing

@Suite struct JPEGHeaderTests {
  private let maker = JPEGMaker(width: 33, height: 17)

  private func header(_ file: [UInt8], limits: JPEGLimits = JPEGLimits()) throws -> JPEGHeader {
    try JPEGHeader(BytesSource(file, name: "picture.jpg", pieceByteCount: 7), limits: limits)
  }

  @Test(arguments: [
    (JREF_GRAY, JPEGHeader.Colors.grayscale), (JREF_YCC, .ycc), (JREF_RGB, .rgb), (JREF_CMYK, .cmyk),
    (JREF_YCCK, .ycck),
  ])
  func saysWhatThePictureIs(colors: jref_colors, expected: JPEGHeader.Colors) throws {
    var maker = maker
    maker.colors = colors
    let header = try header(maker.encode())
    #expect(header.width == 33 && header.height == 17 && header.colors == expected)
    #expect(!header.isProgressive && !header.hasSeveralScans)
    #expect(header.orientation == .upright && header.profileByteCount == 0 && header.bitDepth == 8)
  }

  @Test func saysWhetherThereAreSeveralScans() throws {
    var progressive = maker
    progressive.isProgressive = true
    #expect(try header(progressive.encode()).isProgressive)
    #expect(try header(progressive.encode()).hasSeveralScans)
    var separate = maker
    separate.scans = (0..<3).map { JPEGMaker.scan([$0], 0...63, bits: 0, 0) }
    #expect(try !header(separate.encode()).isProgressive)
    #expect(try header(separate.encode()).hasSeveralScans)
  }

  @Test("case 48: all EXIF orientations are found, in both byte orders", arguments: PictureOrientation.allCases)
  func orientation(_ orientation: PictureOrientation) throws {
    for isBig in [true, false] {
      let file = JPEGPieces.inserting(JPEGPieces.exif(UInt16(orientation.rawValue), isBig: isBig), into: maker.encode())
      #expect(try header(file).orientation == orientation)
    }
  }

  @Test func whatMakesNoSenseInEXIFDoesNotMatter() throws {
    let file = maker.encode()
    for value: UInt16 in [0, 9, 256] {
      #expect(try header(JPEGPieces.inserting(JPEGPieces.exif(value), into: file)).orientation == .upright)
    }
    let whole = Array(JPEGPieces.exif(6).dropFirst(4))
    for count in 0..<whole.count - 12 {
      let cut = JPEGPieces.segment(0xe1, Array(whole.prefix(count)))
      #expect(try header(JPEGPieces.inserting(cut, into: file)).orientation == .upright)
    }
  }

  @Test func aProfileIsPutTogetherOfItsParts() throws {
    func part(_ number: UInt8, of count: UInt8, _ bytes: [UInt8]) -> [UInt8] {
      JPEGPieces.segment(0xe2, Array("ICC_PROFILE\0".utf8) + [number, count] + bytes)
    }
    let first = (0..<1_000).map { UInt8($0 % 251) }, second = (0..<70).map { UInt8($0 + 100) }
    func read(_ segments: [[UInt8]], limit: Int = 2_000) throws -> (Int, [UInt8]?) {
      let file = JPEGPieces.inserting(segments.flatMap { $0 }, into: maker.encode())
      let header = try header(file)
      return (header.profileByteCount, try header.profile(from: BytesSource(file, pieceByteCount: 9), limit: limit))
    }
    #expect(try read([]) == (0, nil))
    let parts = [part(2, of: 2, second), part(1, of: 2, first)]
    #expect(try read(parts) == (1_070, first + second))
    #expect(try read([parts[1]]) == (1_000, nil))
    #expect(try read(parts + [parts[0]]) == (1_140, nil))
    #expect(try read([part(0, of: 2, second), parts[1]]) == (1_070, nil))
    #expect(throws: PictureError.unsupported(file: "picture.png", kind: "a colour profile of 1070 bytes")) {
      try read(parts, limit: 1_069)
    }
  }

  @Test("case 47: a header cut off anywhere is an error naming the file")
  func cutOffAnywhere() throws {
    let file = maker.encode()
    let end = try #require(JPEGPieces.firstScan(of: file))
    for count in 0..<end + 4 {
      let error = #expect(throws: PictureError.self, "cut off after \(count) bytes") {
        try header(Array(file[..<count]))
      }
      #expect("\(try #require(error))".hasPrefix("picture.jpg: "))
    }
    #expect(throws: PictureError.empty(file: "picture.jpg")) { try header([]) }
    #expect(throws: PictureError.notJPEG(file: "picture.jpg")) { try header([0x89, 0x50]) }
  }

  @Test("case 46: a size above the limit is refused before anything else is looked at")
  func tooLarge() {
    let file = JPEGPieces.start + JPEGPieces.frame(0xc0, width: 65_501, height: 8, components: [(1, 0x11)])
    #expect(throws: PictureError.tooLarge(file: "picture.jpg", width: 65_501, height: 8, limit: 65_500)) {
      try header(file + JPEGPieces.segment(0xda, [1, 1, 0, 0, 63, 0]))
    }
  }

  @Test func kindsThatAreNotReadAreNamed() {
    func expect(_ frame: [UInt8], _ reason: String, location: SourceLocation = #_sourceLocation) {
      let scan = JPEGPieces.segment(0xda, [1, 1, 0, 0, 63, 0])
      let error = #expect(throws: PictureError.self, sourceLocation: location) {
        try header(JPEGPieces.start + frame + scan)
      }
      #expect("\(String(describing: error))".contains(reason), sourceLocation: location)
    }
    let gray: [(UInt8, UInt8)] = [(1, 0x11)]
    expect(JPEGPieces.frame(0xc1, depth: 12, width: 8, height: 8, components: gray), "12 bits")
    expect(JPEGPieces.frame(0xc3, width: 8, height: 8, components: gray), "lossless")
    expect(JPEGPieces.frame(0xc9, width: 8, height: 8, components: gray), "arithmetic")
    expect(JPEGPieces.frame(0xc5, width: 8, height: 8, components: gray), "hierarchy")
    expect(JPEGPieces.frame(0xc0, width: 8, height: 0, components: gray), "8 x 0")
    expect(JPEGPieces.frame(0xc0, width: 8, height: 8, components: [(1, 0x11), (2, 0x11)]), "2 kinds")
    expect(JPEGPieces.frame(0xc0, width: 8, height: 8, components: [(1, 0x11), (1, 0x11), (2, 0x11)]), "same name")
    expect(JPEGPieces.frame(0xc0, width: 8, height: 8, components: [(1, 0x44), (2, 0x11), (3, 0x11)]), "ten blocks")
    expect(JPEGPieces.frame(0xc0, width: 8, height: 8, components: [(1, 0x51)]), "5 x 1")
    expect([], "before their size")
    expect([0xff, 0xd9], "no pixels")
    expect([0x00, 0x00], "other than a marker")
    expect([0xff, 0xe0, 0, 1], "shorter than its own length")
  }
}
