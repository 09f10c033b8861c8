import MemChunks
import TestSupport
import Testing

@testable import ChunkTrace

/// What a recorder writes down is what the pool was asked for.
@Suite struct RecorderTests {
  private let directory = TemporaryDirectory()

  private func record(_ body: (ChunkPool, [ValueChunk<Int>]) throws -> Void) throws -> String {
    let path = directory.file("session.trace")
    let clock = ManualClock()
    let pool = ChunkPool(budget: .bytes(100), time: clock.read)
    let recorder = try TraceRecorder(of: pool, to: path)
    let chunks = (0..<5).map { index in
      ValueChunk(in: pool, label: "chunk \(index)", size: 10 * index + 10) {
        clock.advance(by: .microseconds(100 * index + 100))
        return index
      }
    }
    try body(pool, chunks)
    try recorder.close()
    withExtendedLifetime(chunks) {}
    return path
  }

  @Test func hitsAndMissesAreThereInTheirOrder() throws {
    let path = try record { _, chunks in
      for index in [0, 1, 0, 4, 3, 0, 0, 2, 1] { try chunks[index].ensureReady() }
      try chunks[1].withReady { _ in }
      let pin = try chunks[1].pin()
      withExtendedLifetime(pin) {}
    }
    let file = try TraceFile(path)
    let labels = file.trace.requests.map { file.trace.objects[Int($0)].label }
    #expect(labels == [0, 1, 0, 4, 3, 0, 0, 2, 1, 1, 1].map { "chunk \($0)" })
    for object in file.trace.objects {
      let index = Int(object.label.suffix(1))!
      #expect(object.size == 10 * index + 10)
      #expect(object.cost == UInt64(100_000 * index + 100_000))
    }
    #expect(file.budget == 100)
    #expect(file.droppedHits == 0)
  }

  @Test("a replay at the budget of the recording generates as often as the pool did")
  func replayed() throws {
    var random = SeededGenerator(seed: 5)
    var generations = 0
    let path = try record { pool, chunks in
      for _ in 0..<3_000 { try chunks.randomElement(using: &random)!.ensureReady() }
      generations = pool.statistics.generations
    }
    let file = try TraceFile(path)
    #expect(file.trace.requests.count == 3_000)
    #expect(file.trace.replay(.lru, budget: 100).misses == generations)
    #expect(file.generations == generations)
  }

  @Test func whatWasReadyBeforeIsKnown() throws {
    let pool = ChunkPool(budget: .bytes(100))
    let chunk = ValueChunk(in: pool, label: "early", size: 30) { 1 }
    try chunk.ensureReady()
    let path = directory.file("late.trace")
    let recorder = try TraceRecorder(of: pool, to: path)
    try chunk.ensureReady()
    try recorder.close()
    // Not recorded any more.
    try chunk.ensureReady()
    let trace = try TraceFile(path).trace
    #expect(trace.objects.map(\.label) == ["early"] && trace.objects.map(\.size) == [30])
    #expect(trace.requests.count == 1)
  }

  @Test func aMillionHitsTakeFewBytes() throws {
    let path = try record { _, chunks in
      for step in 0..<1_000_000 { try chunks[step & 1].ensureReady() }
    }
    #expect(try TraceFile(path).trace.requests.count == 1_000_000)
    #expect(readFile(path)!.count < 12_000_000)
  }

  @Test("hits of the last chunk that gets a number, each with a token, take no more bytes than there are for them")
  func largestNumbers() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let recorder = TraceRecorder(of: pool)
    let number = HitNote.number
    _ = recorder.note(.ready(number: number, size: 1, nanoseconds: 1), at: 1)
    let hits = [UInt32](repeating: number | HitNote.pinned, count: 500)
    _ = hits.withUnsafeBufferPointer { recorder.note(hits: $0, at: 2) }
    #expect(try TraceFile(bytes: recorder.finish(), file: "large").trace.requests.count == 500)
  }

  @Test("threads that hit at once lose no hit that is not counted")
  func threads() throws {
    let path = directory.file("threads.trace")
    let pool = ChunkPool(budget: .bytes(1_000))
    let recorder = try TraceRecorder(of: pool, to: path)
    let chunks = (0..<8).map { index in ValueChunk(in: pool, size: 10) { index } }
    for chunk in chunks { try chunk.ensureReady() }
    let threads = (0..<4).map { thread in
      TestThread { for step in 0..<20_000 { try? chunks[(step + thread) % 8].ensureReady() } }
    }
    for thread in threads { thread.join() }
    try recorder.close()
    let file = try TraceFile(path)
    #expect(file.trace.requests.count + file.droppedHits == 80_008)
    withExtendedLifetime(chunks) {}
  }

  @Test("tokens are told of when they begin and when they end, on the fast path and on the slow one")
  func tokens() throws {
    let path = try record { pool, chunks in
      let held = try chunks[0].pin()
      do {
        let again = try chunks[0].pin()
        withExtendedLifetime(again) {}
      }
      let both = try pool.pin([chunks[0], chunks[1]])
      try chunks[2].ensureReady()
      both.unpin()
      held.unpin()
    }
    var held = [0, 0, 0]
    var greatest = held
    var reader = RecordingReader(try #require(readFile(path)), path)
    try reader.readHeader()
    while let event = try reader.next() {
      switch event {
      case .pinned(let number):
        held[Int(number) - 1] += 1
        greatest[Int(number) - 1] = max(greatest[Int(number) - 1], held[Int(number) - 1])
      case .unpinned(let number): held[Int(number) - 1] -= 1
      default: break
      }
    }
    #expect(greatest == [2, 1, 0])
    #expect(held == [0, 0, 0])
  }

  @Test func aTokenThatWasThereBeforeIsKnown() throws {
    let pool = ChunkPool(budget: .bytes(100))
    let chunk = ValueChunk(in: pool, size: 30) { 1 }
    let pin = try chunk.pin()
    let path = directory.file("pinned.trace")
    let recorder = try TraceRecorder(of: pool, to: path)
    pin.unpin()
    try recorder.close()
    var reader = RecordingReader(try #require(readFile(path)), path)
    try reader.readHeader()
    var tokens: [Int] = []
    while let event = try reader.next() {
      if case .pinned = event { tokens.append(1) }
      if case .unpinned = event { tokens.append(-1) }
    }
    #expect(tokens == [1, -1])
  }

  @Test("a thread that ends leaves its ring to another, and what it put there is told of")
  func threadsThatEnd() throws {
    let path = directory.file("threads.trace")
    let pool = ChunkPool(budget: .bytes(1_000))
    let recorder = try TraceRecorder(of: pool, to: path)
    let chunks = (0..<3).map { index in ValueChunk(in: pool, size: 10) { index } }
    for chunk in chunks { try chunk.ensureReady() }
    for _ in 0..<50 {
      TestThread { for step in 0..<99 { try? chunks[step % 3].ensureReady() } }.join()
    }
    try recorder.close()
    let file = try TraceFile(path)
    #expect(file.droppedHits == 0)
    #expect(file.trace.requests.count == 3 + 50 * 99)
    withExtendedLifetime(chunks) {}
  }

  @Test("a thread that uses two pools in turn is heard in both")
  func twoPools() throws {
    let pools = (0..<2).map { _ in ChunkPool(budget: .bytes(100)) }
    let paths = (0..<2).map { directory.file("pool\($0).trace") }
    let recorders = try zip(pools, paths).map { try TraceRecorder(of: $0, to: $1) }
    let chunks = pools.map { pool in ValueChunk(in: pool, size: 10) { 1 } }
    for step in 0..<20_000 { try chunks[step % 2].ensureReady() }
    for recorder in recorders { try recorder.close() }
    for path in paths {
      let file = try TraceFile(path)
      #expect(file.trace.requests.count == 10_000 && file.droppedHits == 0)
    }
    withExtendedLifetime(chunks) {}
  }

  @Test func recordingsOfTheFirstVersionAreRead() throws {
    var block = TraceFormat.emptyBlock
    // Chunk 1 is generated: 10 bytes, 5 ns, no time since. It is hit, and 3 hits are lost.
    block += [1 << 3 | 1, 10, 5, 0, 1 << 3, 3 << 3 | 6]
    TraceFormat.close(&block)
    let file = try TraceFile(bytes: TraceFormat.magic + [1] + block + TraceFormat.endMark, file: "old")
    #expect(file.trace.requests.count == 2 && file.droppedHits == 3)
  }

  @Test func aPlaceThatCannotBeWrittenIsNamed() throws {
    let path = directory.file("missing/session.trace")
    let pool = ChunkPool(budget: .bytes(100))
    #expect { try TraceRecorder(of: pool, to: path) } throws: { "\($0)".contains(path) }
  }
}
