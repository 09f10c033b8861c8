import MemChunks
import Pictures
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite struct HostilePNGTests {
  let directory = TemporaryDirectory()
  let pool = ChunkPool(budget: .megabytes(1))

  private func file(_ bytes: [UInt8]) -> BytePath {
    let path = directory.file("picture.png")
    writeFile(path, bytes)
    return BytePath(path)
  }

  private func expectPoolIsEmpty() {
    #expect(pool.statistics.ready == 0)
    #expect(pool.statistics.reserved == 0)
    #expect(pool.statistics.generations == 0)
  }

  @Test("case 46: a header of 100 000 x 100 000 is refused by size, nothing is allocated")
  func hugeHeader() throws {
    let path = file(PNGPieces.start(width: 100_000, height: 100_000))
    #expect(
      throws: PictureError.tooLarge(file: path.description, width: 100_000, height: 100_000, limit: 65_535)
    ) {
      try BufferChunk.png(path, in: pool)
    }
    // With the limit raised, the budget refuses it, still before any pixel.
    let chunk = try BufferChunk.png(path, in: pool, limits: PNGLimits(side: 100_000))
    let error = #expect(throws: ChunkError.self) { try chunk.ensureReady() }
    guard case .tooLarge = error else {
      Issue.record("\(String(describing: error)) instead of tooLarge")
      return
    }
    expectPoolIsEmpty()
    #expect(pool.statistics.peak == 0)
  }

  @Test("case 47: a file cut off anywhere is an error naming the file; the pool is as before")
  func cutOffAnywhere() throws {
    let whole = PNGMaker(width: 6, height: 5, depth: 8, colorType: .truecolorAlpha, isInterlaced: true)
      .encode((0..<120).map(UInt16.init))
    for count in 0..<whole.count {
      let path = file(Array(whole[..<count]))
      let error = #expect(throws: (any Error).self, "cut off after \(count) bytes") {
        try BufferChunk.png(path, in: pool).ensureReady()
      }
      #expect("\(try #require(error))".contains(path.description))
    }
    expectPoolIsEmpty()
    let good = try BufferChunk.png(file(whole), in: pool)
    try good.ensureReady()
    #expect(pool.statistics.generations == 1)
  }

  @Test("case 47: an empty file says so")
  func emptyFile() throws {
    let path = file([])
    #expect(throws: PictureError.empty(file: path.description)) { try BufferChunk.png(path, in: pool) }
  }

  @Test("case 47: a byte changed anywhere is an error, or changes nothing that is kept")
  func changedAnywhere() throws {
    let maker = PNGMaker(width: 6, height: 5, depth: 8, colorType: .truecolorAlpha)
    let whole = maker.encode((0..<120).map(UInt16.init))
    let pixels = try decode(BytesSource(whole))
    for index in whole.indices {
      var bytes = whole
      bytes[index] ^= 0x55
      do {
        #expect(try decode(BytesSource(bytes)) == pixels, "byte \(index)")
      } catch {
        #expect(error is PictureError)
      }
    }
  }

  @Test func anAncillaryChunkBeyondTheLimitIsRefused() throws {
    var bytes = PNGMaker(width: 1, height: 1, depth: 8, colorType: .grayscale).encode([1])
    // A text chunk that claims 200 MB, between header and pixels.
    bytes.insert(contentsOf: [0x0b, 0xeb, 0xc2, 0x00] + "tEXt".utf8 + [0x61, 0], at: 33)
    #expect(throws: PictureError.self) { try decode(BytesSource(bytes)) }
  }

  @Test func whatTheSourceThrowsComesThrough() {
    struct DiskOnFire: Error {}
    final class Burning: PictureSource {
      let name = "disk"
      func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int { throw DiskOnFire() }
    }
    #expect(throws: DiskOnFire.self) { try PNGReader(Burning()) }
  }

  @Test func aMissingFileIsNamed() {
    let path = BytePath(directory.file("none.png"))
    let error = #expect(throws: PictureError.self) { try FileSource(path) }
    #expect(error?.description.contains("none.png") == true)
  }

  @Test func whatIsNoFileIsRefusedAndNotWaitedFor() {
    let pipe = directory.file("pipe.png")
    // Nobody ever writes to it.
    #expect(mkfifo(pipe, 0o600) == 0)
    for path in [pipe, directory.path] {
      let error = #expect(throws: PictureError.self) { try Picture.open(BytePath(path)) }
      #expect(error?.description.contains("not a file") == true, "\(path)")
    }
  }
}
