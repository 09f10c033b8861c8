import JPEGReference
import Pictures
import TestSupport
import Testing

@Suite struct HostileJPEGTests {
  private static var maker: JPEGMaker {
    var maker = JPEGMaker(width: 101, height: 67)
    maker.sampling = [(2, 2), (1, 1), (1, 1)]
    return maker
  }

  private let file = maker.encode()

  @Test("case 47: a file cut off anywhere is an error naming the file")
  func cutOffAnywhere() throws {
    for count in stride(from: 0, to: file.count, by: 13) {
      let error = #expect(throws: PictureError.self, "cut off after \(count) bytes") {
        _ = try readJPEG(Array(file[..<count]))
      }
      #expect("\(try #require(error))".hasPrefix("picture.jpg: "))
    }
  }

  @Test("case 47: a byte changed anywhere is an error, or another picture of the same size")
  func changedAnywhere() throws {
    for index in stride(from: 0, to: file.count, by: 11) {
      var bytes = file
      bytes[index] ^= 0x55
      do {
        let source = BytesSource(bytes)
        let header = try JPEGHeader(source)
        let pixels = try readRows(JPEGRows(source, header: header))
        #expect(pixels.count == 4 * header.width * header.height)
      } catch {
        #expect(error is PictureError, "byte \(index)")
      }
    }
  }

  @Test func whatThereIsOfACutFileIsShownOnRequestWithAWarning() throws {
    let whole = try readJPEG(file)
    let source = BytesSource(Array(file[..<(file.count / 2)]), name: "picture.jpg")
    let rows = try JPEGRows(source, header: JPEGHeader(source), damage: .showWhatThereIs)
    #expect(rows.warning == nil)
    let pixels = try readRows(rows)
    guard case .truncated("picture.jpg", let place) = rows.warning else {
      Issue.record("\(String(describing: rows.warning))")
      return
    }
    #expect(place.contains("of 67"))
    #expect(pixels.count == whole.count)
    #expect(pixels.prefix(4 * 101 * 15) == whole.prefix(4 * 101 * 15), "rows before the end are as they should be")
    #expect(pixels.suffix(4 * 101).allSatisfy { $0 == 0 }, "rows behind it are transparent")
  }

  @Test func aDamagedPlaceIsPassedOverOnRequestWithAWarning() throws {
    var maker = Self.maker
    maker.restartInterval = 7
    var bytes = maker.encode()
    let whole = try readJPEG(bytes)
    // The end of the second row of units is missing; the next begins with a restart.
    let scan = try #require(JPEGPieces.firstScan(of: bytes))
    let restart = try #require(bytes.indices.dropFirst(scan).first { bytes[$0] == 0xff && bytes[$0 + 1] == 0xd1 })
    bytes.removeSubrange(restart - 9..<restart)
    let error = #expect(throws: PictureError.self) { _ = try readJPEG(bytes) }
    #expect("\(try #require(error))".contains("damaged, in row"))
    let source = BytesSource(bytes, name: "picture.jpg")
    let rows = try JPEGRows(source, header: JPEGHeader(source), damage: .showWhatThereIs)
    let pixels = try readRows(rows)
    guard case .damaged("picture.jpg", _, _) = rows.warning else {
      Issue.record("\(String(describing: rows.warning))")
      return
    }
    #expect(pixels.suffix(4 * 101 * 15) == whole.suffix(4 * 101 * 15), "rows behind the next restart are right")
  }

  @Test("case 46: a tiny file that claims 20000 x 20000 is refused before a row is decoded")
  func tinyFileOfAHugePicture() throws {
    var bytes = JPEGMaker(width: 16, height: 16).encode()
    let frame = try #require(bytes.indices.first { bytes[$0] == 0xff && bytes[$0 + 1] == 0xc0 })
    bytes.replaceSubrange(frame + 5..<frame + 9, with: JPEGPieces.number(20_000) + JPEGPieces.number(20_000))
    let source = BytesSource(bytes, name: "tiny.jpg")
    let header = try JPEGHeader(source)
    let error = #expect(throws: PictureError.self) { try JPEGRows(source, header: header) }
    #expect("\(try #require(error))".contains("20000 x 20000"))
    #expect(source.bytesGiven <= bytes.count, "only the header has been read")
    let rows = try JPEGRows(source, header: header, scale: JPEGScale(eighths: 1), damage: .showWhatThereIs)
    while try rows.nextRow() != nil {}
    #expect(rows.warning != nil)
  }

  @Test func anotherPictureThanTheOneAskedForIsRefused() throws {
    let other = try JPEGHeader(BytesSource(JPEGMaker(width: 102, height: 67).encode()))
    #expect(throws: PictureError.changed(file: "picture.jpg")) {
      try JPEGRows(BytesSource(file, name: "picture.jpg"), header: other)
    }
  }

  private struct Broken: Error {}

  /// Gives a part of a file and then fails.
  private struct BreakingSource: PositionedSource {
    let bytes: [UInt8]
    let name = "picture.jpg"
    var byteCount: Int? { nil }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws -> Int {
      guard offset < bytes.count else { throw Broken() }
      let piece = bytes[offset...].prefix(buffer.count)
      buffer.copyBytes(from: piece)
      return piece.count
    }
  }

  @Test(arguments: [DamagePolicy.refuse, .showWhatThereIs])
  func whatTheSourceThrowsGetsThrough(damage: DamagePolicy) throws {
    let source = BreakingSource(bytes: Array(file[..<(file.count / 2)]))
    let rows = try JPEGRows(source, header: JPEGHeader(source), damage: damage)
    #expect(throws: Broken.self) { try readRows(rows) }
    #expect(throws: Broken.self) { try rows.nextRow() }
  }
}
