import JPEGReference
import Pictures
import TestSupport
import Testing

/// Kinds of files, each small and of an odd size.
enum JPEGKinds {
  static let all: [(name: String, maker: JPEGMaker)] = {
    var kinds: [(String, JPEGMaker)] = []
    func add(_ name: String, _ change: (inout JPEGMaker) -> Void) {
      var maker = JPEGMaker(width: 61, height: 39)
      change(&maker)
      kinds.append((name, maker))
    }
    add("grey") { $0.colors = JREF_GRAY }
    add("grey, sampled twice") {
      $0.colors = JREF_GRAY
      $0.sampling = [(2, 2)]
    }
    add("4:4:4") { _ in }
    add("4:2:0") { $0.sampling = [(2, 2), (1, 1), (1, 1)] }
    add("4:2:2") { $0.sampling = [(2, 1), (1, 1), (1, 1)] }
    add("4:4:0") { $0.sampling = [(1, 2), (1, 1), (1, 1)] }
    add("4:1:1") { $0.sampling = [(4, 1), (1, 1), (1, 1)] }
    add("odd sampling") { $0.sampling = [(1, 1), (2, 2), (1, 2)] }
    add("RGB") { $0.colors = JREF_RGB }
    add("CMYK") { $0.colors = JREF_CMYK }
    add("YCCK") {
      $0.colors = JREF_YCCK
      $0.sampling = [(2, 2), (1, 1), (1, 1), (2, 2)]
    }
    add("restarts") {
      $0.restartInterval = 3
      $0.sampling = [(2, 2), (1, 1), (1, 1)]
    }
    return kinds
  }()
}

@Suite struct JPEGRowTests {
  @Test("rows are what libjpeg makes of the whole, at every scale", arguments: JPEGKinds.all.map(\.name))
  func equalsTheWhole(kind: String) throws {
    let maker = try #require(JPEGKinds.all.first { $0.name == kind }).maker
    let file = maker.encode()
    for eighths in 1...8 {
      let scale = JPEGScale(eighths: eighths)
      let expected = try JPEGReferencePicture(file, scale)
      #expect(scale.scaled(maker.width) == expected.width && scale.scaled(maker.height) == expected.height)
      #expect(try readJPEG(file, scale) == expected.pixels, "at \(eighths) eighths")
    }
  }

  @Test func howTheSourceCutsItselfInPiecesDoesNotMatter() throws {
    let file = JPEGKinds.all[3].maker.encode()
    let expected = try readJPEG(file)
    for count in [1, 7, 100_000] { #expect(try readJPEG(file, pieceByteCount: count) == expected) }
  }

  @Test("what a reader takes is foretold", arguments: JPEGKinds.all.map(\.name))
  func memory(kind: String) throws {
    var maker = try #require(JPEGKinds.all.first { $0.name == kind }).maker
    // Wide enough for the rows to count, not the tables.
    (maker.width, maker.height) = (3_001, 40)
    let source = BytesSource(maker.encode())
    let header = try JPEGHeader(source)
    for eighths in 1...8 {
      let scale = JPEGScale(eighths: eighths)
      let rows = try JPEGRows(source, header: header, scale: scale)
      _ = try readRows(rows)
      let foretold = JPEGRows.byteCount(for: header, scale: scale)
      #expect(rows.takenByteCount <= foretold && foretold < 2 * rows.takenByteCount + 65_536, "at \(eighths) eighths")
    }
  }

  @Test func theSmallestScaleThatIsLargeEnoughIsFound() throws {
    let header = try JPEGHeader(BytesSource(JPEGMaker(width: 1_000, height: 600).encode()))
    #expect(JPEGScale(of: header, atLeast: 125, 75).eighths == 1)
    #expect(JPEGScale(of: header, atLeast: 126, 1).eighths == 2)
    #expect(JPEGScale(of: header, atLeast: 1, 151).eighths == 4)
    #expect(JPEGScale(of: header, atLeast: 5_000, 1).eighths == 8)
  }

  @Test func rowsCanBeSkipped() throws {
    let source = BytesSource(JPEGKinds.all[3].maker.encode())
    let header = try JPEGHeader(source)
    let all = try readRows(JPEGRows(source, header: header))
    let rows = try JPEGRows(source, header: header)
    try rows.skipRows(30)
    #expect(rows.rowsRead == 30)
    #expect(try readRows(rows) == Array(all[(30 * 4 * header.width)...]))
    #expect(try rows.nextRow() == nil)
  }
}
