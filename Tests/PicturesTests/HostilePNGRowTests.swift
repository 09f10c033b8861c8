import Pictures
import TestSupport
import Testing

@Suite struct HostilePNGRowTests {
  private let start = PNGPieces.start(width: 2, height: 3)
  /// Three rows of two pixels, each behind its filter.
  private let rows: [UInt8] = (0..<3).flatMap { row in [1] + (0..<8).map { UInt8(10 * row + $0) } }

  private var stream: [UInt8] { PNGPieces.stored(rows) }
  private var whole: [UInt8] { start + PNGPieces.pixels(stream) + PNGPieces.end }

  /// The pixels of a file, or why there are none: the same with both inflaters, parked or not.
  @discardableResult
  private func read(_ file: [UInt8]) throws -> [UInt8] {
    let ways: [(PNGRowReader.Inflater, isParked: Bool)] = [
      (.small, false), (.fast, false), (.small, true), (.fast, true),
    ]
    let results = ways.map { inflater, isParked in
      Result {
        try readRows(BytesSource(file), PNGHeader(BytesSource(file)), .rgba8, inflater, isParked: isParked)
      }
    }
    for result in results { #expect("\(result)" == "\(results[0])") }
    return try results[0].get()
  }

  private func expectDamaged(_ file: [UInt8], _ reason: String, location: SourceLocation = #_sourceLocation) {
    let error = #expect(throws: PictureError.self, sourceLocation: location) { try read(file) }
    guard case .damaged(_, _, let given)? = error, given.contains(reason) else {
      Issue.record("\(String(describing: error)) instead of \(reason)", sourceLocation: location)
      return
    }
  }

  @Test func aWholeFileIsRead() throws {
    #expect(try read(whole) == decode(BytesSource(whole)))
  }

  @Test("case 47: a file cut off anywhere is an error naming the file")
  func cutOffAnywhere() throws {
    for count in whole.indices {
      let error = #expect(throws: PictureError.self, "cut off after \(count) bytes") {
        try read(Array(whole[..<count]))
      }
      #expect("\(try #require(error))".contains("picture.png"))
    }
  }

  @Test("case 47: a byte changed anywhere is an error, or changes nothing that is kept")
  func changedAnywhere() throws {
    let text = PNGPieces.chunk("tEXt", [65, 0, 66])
    let file = start + text + PNGPieces.pixels(stream, inChunksOf: 20) + text + PNGPieces.end
    let pixels = try read(file)
    for index in file.indices {
      var bytes = file
      bytes[index] ^= 0x55
      do {
        #expect(try read(bytes) == pixels, "byte \(index)")
      } catch {
        #expect(error is PictureError)
      }
    }
  }

  @Test func pixelsMustBeAsManyAsTheHeaderSays() {
    let fewer = PNGPieces.stored(Array(rows.dropLast(2))), more = PNGPieces.stored(rows + [0])
    expectDamaged(start + PNGPieces.pixels(fewer) + PNGPieces.end, "fewer pixels")
    expectDamaged(start + PNGPieces.pixels(more) + PNGPieces.end, "more pixels")
    expectDamaged(start + PNGPieces.pixels(Array(stream.prefix(20))) + PNGPieces.end, "within a row")
    expectDamaged(start + PNGPieces.pixels(stream.dropLast()) + PNGPieces.end, "without a checksum")
  }

  @Test func theStreamMustBeWhatPNGAllows() {
    func file(_ change: (inout [UInt8]) -> Void) -> [UInt8] {
      var stream = stream
      change(&stream)
      return start + PNGPieces.pixels(stream) + PNGPieces.end
    }
    expectDamaged(file { $0[$0.count - 1] ^= 1 }, "checksum of the pixels")
    expectDamaged(file { $0[0] = 0x79 }, "not compressed as")
    expectDamaged(file { $0.replaceSubrange(0..<2, with: [0x78, 0x20]) }, "not compressed as")
    expectDamaged(file { $0[2] = 7 }, "not what deflate makes")
    // The filter of the second row.
    expectDamaged(start + PNGPieces.pixels(PNGPieces.stored(rows.enumerated().map { $0 == 9 ? 5 : $1 })), "filter 5")
  }

  @Test func whatFollowsTheStreamInItsChunksIsPassedOver() throws {
    let file = start + PNGPieces.pixels(stream + [1, 2, 3], inChunksOf: 40) + PNGPieces.end
    #expect(try read(file) == read(whole))
  }

  /// Found by the fuzzer: codes that begin in one piece and, in the next, lead to before the first pixel.
  @Test func aDamageRightBehindCodesInTwoPiecesIsAnError() throws {
    let digits = """
      789cc5d4fb73080400c0f1cf366b37af9947618acc23441be7913b6e5a79ac325363a1ad7974d2505e79ede4cae3681e21bb9b47\
      9c93e5b1b245c9e8d6c24296d0455bde6e3199474e96faadabdfbaebe86ff8dcf71b80005584aaa5be261e11a58b18bdf593e425\
      234d946e960c8b647adf669fc8f7957d8e2a714eb91b7e17ac867a1ed45c7b1d7513e75989861a61b4a9d2cdf2ae65d6fad0563b\
      e4fbda41c79df6b3ab7e13ffffffff6aaab5cebaea254eff204156
      """
    let stream = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits.dropFirst($0).prefix(2), radix: 16)! }
    let file = PNGPieces.start(width: 19, height: 12, depth: 16) + PNGPieces.pixels(stream)
    for inflater in [PNGRowReader.Inflater.small, .fast] {
      let source = BytesSource(file, pieceByteCount: 112)
      let error = #expect(throws: PictureError.self) {
        try readRows(source, PNGHeader(BytesSource(file)), .rgba8, inflater)
      }
      #expect("\(try #require(error))".contains("not what deflate makes"))
    }
  }

  @Test func emptyAndTinyChunksOfPixelsAreAllowed() throws {
    let empty = PNGPieces.chunk("IDAT", [])
    let file = start + empty + empty + PNGPieces.pixels(stream, inChunksOf: 1) + empty + PNGPieces.end
    #expect(try read(file) == read(whole))
  }

  @Test func chunksMustStandWhereTheyBelong() {
    let (pixels, end) = (PNGPieces.pixels(stream), PNGPieces.end)
    let text = PNGPieces.chunk("tEXt", [65, 0]), header = Array(start.dropFirst(8))
    expectDamaged(PNGPieces.signature + pixels + end, "not a header")
    expectDamaged(start + header + pixels + end, "unexpected chunk IHDR")
    expectDamaged(start + PNGPieces.pixels(stream, inChunksOf: 30).prefix(42) + text + pixels + end, "within a row")
    expectDamaged(start + pixels + text + pixels + end, "unexpected chunk IDAT")
    expectDamaged(start + PNGPieces.chunk("QQQQ", []) + pixels + end, "unexpected chunk QQQQ")
    expectDamaged(start + PNGPieces.chunk("tE1t", []) + pixels + end, "other than a chunk")
    expectDamaged(start + end, "no pixels")
    expectDamaged(start + pixels + PNGPieces.chunk("IEND", [0]), "end mark")
    expectDamaged(start + PNGPieces.chunk("tRNS", [0, 0]) + pixels + end, "transparency out of place")
    expectDamaged(start + PNGPieces.chunk("PLTE", [1, 2, 3, 4]) + pixels + end, "palette of 4 bytes")
    let indexed = PNGPieces.start(width: 2, height: 3, colorType: .indexed)
    expectDamaged(indexed + pixels + end, "palette is missing")
    let colors = PNGPieces.chunk("PLTE", [1, 2, 3])
    expectDamaged(indexed + PNGPieces.chunk("tRNS", [0]) + colors + pixels, "transparency out of place")
    expectDamaged(indexed + colors + colors + pixels, "palette out of place")
  }

  @Test func headersMustMakeSense() {
    for (depth, interlace) in [(3, 0), (0, 0), (8, 2)] as [(Int, UInt8)] {
      #expect(throws: PictureError.self) {
        try PNGHeader(BytesSource(PNGPieces.start(width: 1, height: 1, depth: depth, interlace: interlace)))
      }
    }
    #expect(throws: PictureError.self) { try PNGHeader(BytesSource(PNGPieces.start(width: 0, height: 1))) }
    #expect(throws: PictureError.notPNG(file: "picture.png")) { try PNGHeader(BytesSource([0x47])) }
    #expect(throws: PictureError.empty(file: "picture.png")) { try PNGHeader(BytesSource([])) }
    #expect(throws: PictureError.tooLarge(file: "picture.png", width: 7, height: 1, limit: 6)) {
      try PNGHeader(BytesSource(PNGPieces.start(width: 7, height: 1)), limits: PNGLimits(side: 6))
    }
  }

  @Test func theLargestSidesOverflowNothing() throws {
    let side = Int(Int32.max)
    let start = PNGPieces.start(width: side, height: side, depth: 16)
    let header = try PNGHeader(BytesSource(start), limits: PNGLimits(side: side))
    #expect(PNGRowReader.byteCount(for: header, format: .rgba16, inflater: .small) > 8 * side)
    #expect(PNGRowReader.scratchByteCount(for: header, format: .rgba16) > 16 * side)
  }

  @Test func anotherPictureThanTheOneAskedForIsRefused() throws {
    let other = try PNGHeader(BytesSource(PNGPieces.start(width: 3, height: 3)))
    #expect(throws: PictureError.changed(file: "picture.png")) {
      try readRows(BytesSource(whole), other, .rgba8, .small)
    }
  }

  /// A source that never ends: a beginning, then the same bytes for ever.
  private final class Endless: PictureSource {
    let name = "endless"
    private var rest: ArraySlice<UInt8>
    private let bytes: [UInt8]

    init(_ start: [UInt8], _ bytes: [UInt8]) {
      rest = start[...]
      self.bytes = bytes
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
      if rest.isEmpty { rest = bytes[...] }
      let piece = rest.prefix(buffer.count)
      buffer.copyBytes(from: piece)
      rest = rest.dropFirst(piece.count)
      return piece.count
    }
  }

  @Test("a file without an end is given up", arguments: ["tEXt", "IDAT"])
  func endless(name: String) throws {
    // Empty blocks of deflate, which add no pixel.
    let blocks = Array(repeating: [0, 0, 0, 255, 255] as [UInt8], count: 1_600).flatMap { $0 }
    let start = start + PNGPieces.chunk("IDAT", [0x78, 0x01])
    let source = BufferedSource(Endless(name == "IDAT" ? start : self.start, PNGPieces.chunk(name, blocks)))
    let header = try PNGHeader(BytesSource(start))
    let error = #expect(throws: PictureError.self) { try readRows(source, header, .rgba8, .fast) }
    #expect("\(try #require(error))".contains("many times longer"))
  }

  @Test func whatTheSourceThrowsComesThroughEachTime() throws {
    struct DiskOnFire: Error {}
    final class Burning: PositionedSource {
      let name = "disk"
      let byteCount: Int? = nil
      let bytes: [UInt8]
      init(_ bytes: [UInt8]) { self.bytes = bytes }
      func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws -> Int {
        guard offset < bytes.count else { throw DiskOnFire() }
        buffer[0] = bytes[offset]
        return 1
      }
    }
    let header = try PNGHeader(BytesSource(whole))
    let memory = RowMemory(header, .rgba8, .small)
    let reader = try PNGRowReader(
      Burning(Array(whole.prefix(60))), header: header, format: .rgba8, inflater: .small, memory: memory.kept,
      scratch: memory.scratch)
    for _ in 0..<2 {
      #expect(throws: DiskOnFire.self) { while try reader.nextRow(memory.scratch) != nil {} }
    }
    withExtendedLifetime(memory) {}
  }
}
