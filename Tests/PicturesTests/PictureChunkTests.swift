import MemChunks
import Pictures
import TestSupport
import Testing

@Suite struct PictureChunkTests {
  let directory = TemporaryDirectory()

  private func file(_ name: String, side: Int, _ sample: UInt16) -> BytePath {
    let maker = PNGMaker(width: side, height: side, depth: 8, colorType: .grayscaleAlpha)
    let path = directory.file(name)
    writeFile(path, maker.encode(Array(repeating: sample, count: 2 * side * side)))
    return BytePath(path)
  }

  @Test("case 3: a 1024 x 1024 picture counts 4 194 304 bytes")
  func countsBytes() throws {
    let pool = ChunkPool(budget: .megabytes(5))
    let chunk = try BufferChunk.png(file("a.png", side: 1_024, 200), in: pool)
    #expect(chunk.size == 4_194_304)
    #expect(pool.statistics.ready == 0, "only the header has been read")
    try chunk.ensureReady()
    #expect(pool.statistics.ready == 4_194_304)
    #expect(pool.statistics.peak == 4_194_304 + 106_496 + 16_384, "the decoder counts while it works")
  }

  @Test("case 7: a picture larger than the budget is refused before it is decoded; others stay ready")
  func tooLarge() throws {
    let pool = ChunkPool(budget: .kilobytes(192))
    let small = try BufferChunk.png(file("small.png", side: 8, 1), in: pool)
    let large = try BufferChunk.png(file("large.png", side: 200, 1), in: pool)
    try small.ensureReady()
    let ready = pool.statistics.ready
    let error = #expect(throws: ChunkError.self) { try large.ensureReady() }
    #expect("\(try #require(error))".contains("large.png"))
    #expect(pool.statistics.generations == 1)
    #expect(pool.statistics.ready == ready && small.isReady)
  }

  @Test func isDecodedAgainAfterItWasFreed() throws {
    let pool = ChunkPool(budget: .kilobytes(192))
    let chunk = try BufferChunk.png(file("a.png", side: 8, 200), in: pool)
    for _ in 0..<3 {
      // 200 x 200 / 255 is 156.9.
      #expect(try chunk.withBytes { $0.unsafeLoad(fromByteOffset: 4, as: UInt8.self) } == 157)
      pool.freeAll()
    }
    #expect(pool.statistics.generations == 3)
  }

  @Test func aFileThatChangedItsSizeIsNotTakenForTheOldOne() throws {
    let pool = ChunkPool(budget: .kilobytes(192))
    let path = file("a.png", side: 8, 1)
    let chunk = try BufferChunk.png(path, in: pool)
    _ = file("a.png", side: 9, 1)
    let error = #expect(throws: ChunkError.self) { try chunk.ensureReady() }
    guard case .generationFailed(_, let underlying) = error else {
      Issue.record("\(String(describing: error)) instead of generationFailed")
      return
    }
    #expect(underlying as? PictureError == .changed(file: path.description))
    #expect(pool.statistics.ready == 0 && pool.statistics.reserved == 0)
  }
}
