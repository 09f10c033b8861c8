import MemChunks
import TestSupport
import Testing

@testable import ChunkTrace

/// Files that are damaged, cut off, empty or no traces at all.
@Suite struct DamagedTraceTests {
  /// A recording of more than one block.
  private static let recording: [UInt8] = {
    let directory = TemporaryDirectory()
    let path = directory.file("whole.trace")
    let pool = ChunkPool(budget: .bytes(100))
    let chunks = (0..<20).map { index in ValueChunk(in: pool, label: "a label of some length", size: 10) { index } }
    let recorder = try! TraceRecorder(of: pool, to: path)
    for step in 0..<20_000 { try! chunks[step * step % 20].ensureReady() }
    for step in 0..<20_000 { try! chunks[step % 20].ensureReady() }
    try! recorder.close()
    withExtendedLifetime(chunks) {}
    return readFile(path)!
  }()

  private func read(_ bytes: [UInt8], salvage: Bool = false) throws(TraceError) -> TraceFile {
    try TraceFile(bytes: bytes, file: "x.trace", salvage: salvage)
  }

  private func damage(_ bytes: [UInt8]) -> Int? {
    do throws(TraceError) {
      _ = try read(bytes)
      return nil
    } catch {
      guard case .damaged(_, let offset, _) = error else { return nil }
      return offset
    }
  }

  @Test func theWholeFileIsFine() throws {
    #expect(try read(Self.recording).trace.requests.count == 40_000)
  }

  @Test(
    "a file that is cut off says where, and gives what stands before", arguments: [9, 12, 500, 70_000, 100_000, -1, -8])
  func cutOff(length: Int) throws {
    let bytes = Array(Self.recording.prefix(length > 0 ? length : Self.recording.count + length))
    let offset = try #require(damage(bytes))
    #expect(offset >= 8 && offset <= bytes.count)
    let file = try read(bytes, salvage: true)
    let whole = try read(Self.recording).trace
    #expect(file.damage != nil)
    #expect(whole.requests.starts(with: file.trace.requests))
    #expect(file.trace.requests.count > 0 || length > 0 && length < 65_000)
  }

  @Test("whatever stands in blocks with right checksums is used or refused", arguments: UInt64(1)...8)
  func madeUp(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let pool = ChunkPool(budget: .bytes(30))
    let inner = ValueChunk(in: pool, label: "inner", size: 10) { 0 }
    let chunks = (0..<4).map { index in
      ValueChunk(in: pool, label: "chunk", size: 10) {
        try inner.ensureReady()
        return index
      }
    }
    let recorder = TraceRecorder(of: pool)
    for step in 0..<40 { try chunks[step * step % 4].ensureReady() }
    recorder.planned { [BudgetPlan(budget: 10, generations: 3, generatedBytes: 30, nanoseconds: 100)] }
    let payload = recorder.finish().dropFirst(16).dropLast(8)
    for _ in 0..<300 {
      var block = TraceFormat.emptyBlock + payload
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        let place = Int.random(in: 8..<block.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: block[place] = UInt8.random(in: 0...255, using: &random)
        case 1: block[place] |= 0x80
        case 2:
          block.insert(
            contentsOf: Array(repeating: 0xff, count: Int.random(in: 1...8, using: &random)) + [0x7f], at: place)
        default: block.remove(at: place)
        }
      }
      TraceFormat.close(&block)
      let bytes = TraceFormat.magic + [UInt8(TraceFormat.version)] + block + TraceFormat.endMark
      guard let file = try? read(bytes, salvage: true) else { continue }
      let advice = Advice(file.trace, budget: max(30, file.trace.leastBudget))
      #expect(advice.policies.count == ReplayPolicy.allCases.count - 1)
      #expect(try Session(bytes: bytes, file: "x.trace") != nil)
    }
  }

  @Test func sumsThatCannotBeCountedAreRefused() throws {
    let row = "1,1125899906842624,1\n"
    let text = "id,size,cost_us\n" + String(repeating: row, count: 900)
    #expect(try read(Array(text.utf8)).trace.requests.count == 900)
    let more = text + String(repeating: row, count: 200)
    #expect(throws: TraceError.uncountable(file: "x.trace")) { try self.read(Array(more.utf8)) }
  }

  @Test("any byte that is another is noticed, or changes nothing", arguments: UInt64(1)...3)
  func changed(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let whole = try read(Self.recording).trace.requests
    for _ in 0..<30 {
      var bytes = Self.recording
      let place = Int.random(in: 8..<bytes.count, using: &random)
      bytes[place] ^= UInt8.random(in: 1...255, using: &random)
      #expect(damage(bytes) != nil, "byte \(place)")
      #expect(whole.starts(with: try read(bytes, salvage: true).trace.requests))
    }
  }

  @Test("what is no trace is told from what is damaged")
  func foreign() {
    #expect(throws: TraceError.empty(file: "x.trace")) { try read([]) }
    #expect(throws: TraceError.foreign(file: "x.trace")) { try read(Array("Dear reader,\nhello".utf8)) }
    #expect(throws: TraceError.foreign(file: "x.trace")) {
      try read([0x89] + Array("PNG\r\n".utf8) + Array(repeating: 7, count: 50))
    }
    #expect(throws: TraceError.tooNew(file: "x.trace", version: 9)) { try read(Array("MCTRACE".utf8) + [9]) }
    #expect(throws: TraceError.damaged(file: "x.trace", offset: 7, reason: "the first line of the file is cut off")) {
      try read(Array("MCTRACE".utf8))
    }
  }

  @Test func csvNamesTheLine() throws {
    let text = Array("seq,id,size,cost_us\n0,1,10,\n1,2,20,7\n2,1,ten,\n".utf8)
    #expect(damage(text) == 37)
    let file = try read(text, salvage: true)
    #expect(file.trace.objects == [.init(key: 1, size: 10, cost: 0), .init(key: 2, size: 20, cost: 7_000)])
    #expect(damage(Array("id,size\n1\n".utf8)) == 8)
    #expect(damage(Array("id,size\n-1,5\n".utf8)) == 8)
  }

  @Test("CSV and oracleGeneral come back as they went", arguments: UInt64(1)...3)
  func roundTrips(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let trace = makeTrace(objects: 30, requests: 500, &random)
    let fromCSV = try read(Array(trace.csv.utf8)).trace
    #expect(fromCSV.objects == trace.objects && fromCSV.requests == trace.requests)
    let bytes = try #require(trace.oracleGeneral)
    #expect(bytes.count == 24 * 500)
    let fromBinary = try read(bytes).trace
    #expect(fromBinary.requests == trace.requests)
    #expect(fromBinary.objects.map(\.size) == trace.objects.map(\.size))
    #expect(damage(Array(bytes.dropLast(5))) == 24 * 499)
    #expect(try read(Array(bytes.dropLast(5)), salvage: true).trace.requests.count == 499)
  }
}
