import JPEGReference
import MemChunks
import Pictures
import TestSupport
import Testing

@Suite struct UprightRowsTests {
  /// Rows of pixels that say where they are stored.
  private final class NumberedRows: PictureRows {
    let width: Int, height: Int
    let warning: PictureError?
    private var row: [UInt8] = []
    private var rowsRead = 0

    init(width: Int, height: Int, warning: PictureError? = nil) {
      (self.width, self.height, self.warning) = (width, height, warning)
      row = Array(repeating: 0, count: 4 * width)
    }

    func nextRow() -> UnsafeRawBufferPointer? {
      guard rowsRead < height else { return nil }
      for column in 0..<width { row.replaceSubrange(4 * column..<4 * column + 4, with: Self.pixel(column, rowsRead)) }
      rowsRead += 1
      return row.withUnsafeBytes { UnsafeRawBufferPointer(rebasing: $0[...]) }
    }

    static func pixel(_ column: Int, _ row: Int) -> [UInt8] { [UInt8(column), UInt8(row), UInt8(column ^ row), 255] }
  }

  private static let (width, height) = (7, 5)

  private func picture(_ orientation: PictureOrientation, count: Locked<Int> = Locked(0)) -> StoredPicture {
    StoredPicture(orientation, width: Self.width, height: Self.height, decoderByteCount: 0) {
      count.withLock { $0 += 1 }
      return NumberedRows(width: Self.width, height: Self.height, warning: .empty(file: "a"))
    }
  }

  /// Where each pixel of the upright picture is stored, by what EXIF says of the first stored row and column.
  private func expected(_ orientation: PictureOrientation) -> [UInt8] {
    let (width, height) = (Self.width, Self.height)
    let (lastColumn, lastRow) = (width - 1, height - 1)
    let size = orientation.uprightSize(width: width, height: height)
    return (0..<size.height).flatMap { y in
      (0..<size.width).flatMap { x -> [UInt8] in
        switch orientation {
        case .upright: NumberedRows.pixel(x, y)
        case .mirrored: NumberedRows.pixel(lastColumn - x, y)
        case .halfTurned: NumberedRows.pixel(lastColumn - x, lastRow - y)
        case .flipped: NumberedRows.pixel(x, lastRow - y)
        // The first row is on the left, the first column at the top; and so on.
        case .transposed: NumberedRows.pixel(y, x)
        case .needsQuarterRight: NumberedRows.pixel(y, lastRow - x)
        case .transversed: NumberedRows.pixel(lastColumn - y, lastRow - x)
        case .needsQuarterLeft: NumberedRows.pixel(lastColumn - y, x)
        }
      }
    }
  }

  @Test(
    "case 48: every orientation shows the right way up, in one piece or in bands",
    arguments: PictureOrientation.allCases)
  func orientations(_ orientation: PictureOrientation) throws {
    let pool = ChunkPool(budget: .megabytes(1))
    for (bandRows, times) in [
      (100, 1), (2, orientation.exchangesSides ? 4 : 3), (1, orientation.exchangesSides ? 7 : 5),
    ] {
      let opened = Locked(0)
      let picture = picture(orientation, count: opened)
      let rowByteCount = 4 * picture.uprightSize.width
      let rows = UprightRows(picture, in: pool, label: "a", bandByteCount: bandRows * rowByteCount)
      #expect(try readRows(rows) == expected(orientation), "in bands of \(bandRows)")
      #expect(opened.current == (orientation.keepsRowOrder ? 1 : times))
      #expect(rows.warning == .empty(file: "a") && pool.statistics.ready == 0)
    }
  }

  @Test(arguments: PictureOrientation.allCases)
  func aChunkHoldsThemUpright(_ orientation: PictureOrientation) throws {
    let pool = ChunkPool(budget: .megabytes(1))
    let chunk = BufferChunk.upright(picture(orientation), in: pool, label: "a")
    #expect(try chunk.withBytes { bytes in bytes.withUnsafeBytes { Array($0) } } == expected(orientation))
  }

  @Test func rowsThatNeedNoTurningAreNotKept() throws {
    let pool = ChunkPool(budget: .megabytes(1))
    _ = try readRows(UprightRows(picture(.mirrored), in: pool, label: "a"))
    #expect(pool.statistics.peak == 0)
  }

  @Test func aPictureThatHasNoRoomSaysSo() throws {
    let pool = ChunkPool(budget: .kilobytes(64))
    let picture = StoredPicture(.needsQuarterLeft, width: 1_000, height: 100, decoderByteCount: 0) {
      NumberedRows(width: 1, height: 1)
    }
    let error = #expect(throws: ChunkError.self) { _ = try UprightRows(picture, in: pool, label: "large").nextRow() }
    #expect("\(try #require(error))".contains("large"))
  }

  @Test("case 48: a turned JPEG is decoded upright at a scale")
  func jpeg() throws {
    let directory = TemporaryDirectory()
    let path = directory.file("a.jpg")
    let file = JPEGMaker(width: 90, height: 51).encode()
    writeFile(path, JPEGPieces.inserting(JPEGPieces.exif(6), into: file))
    let stored = try JPEGReferencePicture(file, JPEGScale(eighths: 4))
    let picture = try StoredPicture.jpeg(BytePath(path), scale: JPEGScale(eighths: 4))
    #expect(picture.uprightSize == (26, 45))
    let pool = ChunkPool(budget: .megabytes(1))
    let rows = try readRows(UprightRows(picture, in: pool, label: "a"))
    let turned = (0..<45).flatMap { y in (0..<26).flatMap { x in stored.pixels[(4 * (45 * (25 - x) + y))...].prefix(4) }
    }
    #expect(rows == turned)
    #expect(pool.statistics.peak > 4 * 26 * 45 + 64 << 10, "the decoder counts while it works")
    withExtendedLifetime(directory) {}
  }
}
