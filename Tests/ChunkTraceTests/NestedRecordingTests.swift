import MemChunks
import TestSupport
import Testing

@testable import ChunkTrace

/// What generations ask for is recorded as what their chunks need.
@Suite struct NestedRecordingTests {
  private let clock = ManualClock()

  private func record(budget: Int = 1_000, _ body: (ChunkPool) throws -> Void) throws -> Trace {
    let pool = ChunkPool(budget: .bytes(budget), time: clock.read)
    let recorder = TraceRecorder(of: pool)
    try body(pool)
    return try TraceFile(bytes: recorder.finish(), file: "session").trace
  }

  private func chunk(_ label: String, in pool: ChunkPool, from others: [MemChunk] = []) -> ValueChunk<Int> {
    ValueChunk(in: pool, label: label, size: 10) { [clock] in
      for other in others { try other.ensureReady() }
      clock.advance(by: .microseconds(100))
      return 0
    }
  }

  private func requests(_ trace: Trace) -> [String] { trace.requests.map { trace.objects[Int($0)].label } }

  private func needs(of label: String, in trace: Trace) -> [String] {
    trace.objects.first { $0.label == label }!.needs.map { trace.objects[Int($0)].label }
  }

  @Test("hits and misses inside a generation are what it needs, in their order")
  func needs() throws {
    let trace = try record { pool in
      let file = chunk("file", in: pool)
      let compact = chunk("compact", in: pool, from: [file])
      let pixels = chunk("pixels", in: pool, from: [compact, file, compact])
      try file.ensureReady()
      for _ in 0..<3 { try pixels.ensureReady() }
    }
    #expect(requests(trace) == ["file", "pixels", "pixels", "pixels"])
    #expect(needs(of: "pixels", in: trace) == ["compact", "file", "compact"])
    #expect(needs(of: "compact", in: trace) == ["file"])
    #expect(needs(of: "file", in: trace) == [])
    // Each costs what it takes by itself.
    #expect(trace.objects.map(\.cost) == [100_000, 100_000, 100_000])
  }

  @Test func theLastGenerationSaysWhatIsNeeded() throws {
    let trace = try record { pool in
      let others = (0..<2).map { chunk("other \($0)", in: pool) }
      let generations = Locked(0)
      let varying = ValueChunk(in: pool, label: "chunk", size: 10) {
        let number = generations.withLock { number in
          number += 1
          return number
        }
        try others[number - 1].ensureReady()
      }
      try varying.ensureReady()
      varying.invalidate()
      try varying.ensureReady()
    }
    #expect(needs(of: "chunk", in: trace) == ["other 1"])
    #expect(requests(trace) == ["chunk", "chunk"])
  }

  @Test("what a generation asked for that failed was asked for all the same")
  func failures() throws {
    struct Failure: Error {}
    let trace = try record { pool in
      let inner = chunk("inner", in: pool)
      let outer = ValueChunk(in: pool, label: "outer", size: 10) {
        try inner.ensureReady()
        throw Failure()
      }
      #expect(throws: ChunkError.self) { try outer.ensureReady() }
      try inner.ensureReady()
    }
    #expect(requests(trace) == ["inner", "inner"])
  }

  @Test func aPrefetchedChunkNeedsTheSame() throws {
    let trace = try record { pool in
      let inner = chunk("inner", in: pool)
      let outer = chunk("outer", in: pool, from: [inner])
      pool.prefetch([outer])
      #expect(eventually { outer.isReady })
      try outer.ensureReady()
    }
    #expect(requests(trace) == ["outer"])
    #expect(needs(of: "outer", in: trace) == ["inner"])
  }

  @Test("threads that generate at once each ask for what their own chunk needs, and others' hits are nobody's needs")
  func threads() throws {
    let trace = try record { pool in
      let common = chunk("common", in: pool)
      try common.ensureReady()
      let gates = (0..<3).map { _ in Gate() }
      let chunks = (0..<3).map { index in
        ValueChunk(in: pool, label: "chunk \(index)", size: 10) {
          try common.ensureReady()
          gates[index].wait()
          for _ in 0..<index { try common.ensureReady() }
        }
      }
      let threads = chunks.map { chunk in TestThread { try? chunk.ensureReady() } }
      for gate in gates { gate.waitForArrivals() }
      for _ in 0..<5 { try common.ensureReady() }
      for gate in gates.reversed() { gate.open() }
      for thread in threads { thread.join() }
    }
    for index in 0..<3 {
      #expect(needs(of: "chunk \(index)", in: trace) == [String](repeating: "common", count: index + 1))
    }
    #expect(requests(trace).filter { $0 == "common" }.count == 6)
  }

  @Test func aGenerationInAnotherPoolIsNotInTheWay() throws {
    let other = ChunkPool(budget: .bytes(100))
    let trace = try record { pool in
      let file = chunk("file", in: pool)
      let foreign = ValueChunk(in: other, size: 10) { try file.ensureReady() }
      let pixels = chunk("pixels", in: pool, from: [foreign])
      try pixels.ensureReady()
    }
    #expect(needs(of: "pixels", in: trace) == ["file"])
  }

  @Test func whatGeneratingTakesMoreIsKnown() throws {
    let trace = try record { pool in
      let chunk = ValueChunk(in: pool, size: 10, workingPeak: 300) { 0 }
      try chunk.ensureReady()
    }
    #expect(trace.objects.map(\.size) == [10] && trace.objects.map(\.workingPeak) == [300])
  }

  @Test("a recorder that comes after another knows what was made when none was there")
  func aSecondRecorder() throws {
    let pool = ChunkPool(budget: .bytes(100))
    let chunk = ValueChunk(in: pool, label: "chunk", size: 10) { 0 }
    let first = TraceRecorder(of: pool)
    try chunk.ensureReady()
    _ = first.finish()
    chunk.discard()
    try chunk.ensureReady()
    let second = TraceRecorder(of: pool)
    try chunk.ensureReady()
    let trace = try TraceFile(bytes: second.finish(), file: "second").trace
    #expect(requests(trace) == ["chunk"])
  }

  @Test func recordingsOfTheSecondVersionAreRead() throws {
    var block = TraceFormat.emptyBlock
    // Chunk 1 is generated: 10 bytes, 5 ns, no time since. It is hit, and a token holds it.
    block += [1 << 3 | 1, 10, 5, 0, 1 << 3, (1 << 3 | 1) << 3 | 6 & 0x7f, 0]
    TraceFormat.close(&block)
    let file = try TraceFile(bytes: TraceFormat.magic + [2] + block + TraceFormat.endMark, file: "old")
    #expect(file.trace.requests.count == 2)
  }

  @Test("a trace without needs has those requests that would have been made")
  func flattened() throws {
    let trace = try record(budget: 25) { pool in
      let inner = chunk("inner", in: pool)
      let outer = chunk("outer", in: pool, from: [inner])
      let other = chunk("other", in: pool)
      for chunk in [outer, other, outer, outer] { try chunk.ensureReady() }
    }
    #expect(requests(trace) == ["outer", "other", "outer", "outer"])
    let flat = trace.flattened(budget: 25)
    #expect(requests(flat) == ["outer", "inner", "other", "outer", "outer"])
    #expect(requests(trace.flattened(budget: 15)) == ["outer", "inner", "other", "outer", "inner", "outer"])
  }
}
