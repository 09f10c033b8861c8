import MemChunks
import TestSupport
import Testing

@Suite("Generating: failures, sizes, working peaks")
struct GenerateTests {
  /// Where a generation can go wrong.
  enum Step: CaseIterable {
    case size, peak, begin, sizeAfter, tooLargeAfter, noRoomAfter
  }

  @Test("Case 6: whichever step fails, nothing stays reserved and the next call works", arguments: Step.allCases)
  func failureAtEachStep(step: Step) throws {
    let pool = ChunkPool(budget: .bytes(10))
    let other = pool.tracked("other", 3)
    let chunk = pool.tracked("a", 4)
    try other.ensureReady()
    let pin = try other.pin()
    switch step {
    case .size: chunk.declaredSize = -1
    case .peak: chunk.peak = .max
    case .begin: chunk.hooks.generate = { _ in throw Broken() }
    case .sizeAfter: chunk.sizeAfter = -3
    case .tooLargeAfter: chunk.sizeAfter = 11
    case .noRoomAfter: chunk.sizeAfter = 8
    }
    for attempt in 1...3 {
      let error = chunkError { try chunk.ensureReady() }
      switch (step, error) {
      case (.size, .invalidSize("a", -1)), (.peak, .invalidSize("a", .max)), (.sizeAfter, .invalidSize("a", -3)): break
      case (.begin, .generationFailed("a", let underlying)): #expect(underlying is Broken)
      case (.tooLargeAfter, .tooLarge("a", 11, 10, nil)): break
      case (.noRoomAfter, .noRoom(let numbers)): #expect(numbers.needed == 8 && numbers.pinned == 3)
      default: Issue.record("\(step) ended with \(String(describing: error))")
      }
      #expect(pool.used.bytes == 3 && pool.unsettled == 0)
      #expect(!chunk.isReady && other.isReady && other.frees == 0)
      let calls = step == .size || step == .peak ? 0 : attempt
      #expect(chunk.generations == calls && chunk.frees == (step == .begin ? 0 : calls))
      pool._checkInvariants()
    }
    chunk.declaredSize = 4
    chunk.peak = nil
    chunk.sizeAfter = nil
    chunk.hooks = .init()
    try chunk.ensureReady()
    #expect(chunk.isReady && pool.used.bytes == 7)
    pin.unpin()
    pool._checkInvariants()
  }

  @Test("Case 6: one of several fails: the others stay as they are, nothing is held", arguments: 0..<4)
  func oneOfSeveralFails(failing: Int) throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunks = pool.tracked(4, of: 2)
    try chunks[1].ensureReady()
    chunks[1].discard()
    chunks[failing].hooks.generate = { _ in throw Broken(number: failing) }
    let error = chunkError { try pool.withReady(chunks) { _ = Issue.record("one of them is missing") } }
    guard case .generationFailed(let label, let underlying) = error else {
      Issue.record("ended with \(String(describing: error))")
      return
    }
    #expect(label == "c\(failing)" && (underlying as? Broken)?.number == failing)
    #expect(pool.unsettled == 0 && pool.statistics.pinned == 0)
    #expect(pool.used.bytes == 2 * chunks.filter(\.isReady).count && !chunks[failing].isReady)
    #expect(chunks[(failing + 1)...].allSatisfy { !$0.isReady })
    pool._checkInvariants()
    chunks[failing].hooks = .init()
    try pool.withReady(chunks) { #expect(readyLabels(chunks).count == 4) }
    pool.freeAll()
    #expect(pool.used.bytes == 0)
  }

  @Test("Case 6: values and buffers whose closures throw")
  func closuresThrow() throws {
    let pool = ChunkPool(budget: .kilobytes(64))
    let fails = Locked(true)
    let value = ValueChunk(in: pool, label: "value", size: 100) { () throws -> Int in
      if fails.current { throw Broken() }
      return 5
    }
    let buffer = BufferChunk(in: pool, label: "buffer", size: 10_000, workingPeak: 30_000) { bytes in
      if fails.current { throw Broken() }
      bytes.storeBytes(of: UInt8(9), toByteOffset: 9_999, as: UInt8.self)
    }
    for chunk in [value, buffer] as [MemChunk] {
      for _ in 0..<3 {
        guard case .generationFailed(chunk.label, is Broken)? = chunkError({ try chunk.ensureReady() }) else {
          Issue.record("\(chunk.label) did not fail as it should")
          continue
        }
        #expect(pool.unsettled == 0 && pool.statistics.ready == 0)
        pool._checkInvariants()
      }
    }
    fails.set(false)
    #expect(try value.withReady { $0 } == 5)
    #expect(try buffer.withBytes { $0.unsafeLoad(fromByteOffset: 9_999, as: UInt8.self) } == 9)
    #expect(pool.statistics.failures == 6)
    pool._checkInvariants()
  }

  @Test("Case 7: a chunk larger than the budget is refused before generate, and the others stay ready")
  func largerThanTheBudget() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let others = pool.tracked(5, of: 2)
    for chunk in others { try chunk.ensureReady() }
    let huge = pool.tracked("huge", 20)
    #expect(TooLarge { try huge.ensureReady() } == TooLarge("huge", needed: 20, limit: 10))
    #expect(TooLarge { try huge.withReady {} } == TooLarge("huge", needed: 20, limit: 10))
    #expect(TooLarge { _ = try huge.pin() } == TooLarge("huge", needed: 20, limit: 10))
    #expect(huge.generations == 0 && readyLabels(others).count == 5)
    pool._checkInvariants()
  }

  @Test("Case 7: neighbours: one byte too many, a peak, a group's limit, several together, ready or not")
  func largerThanALimit() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let group = ChunkGroup(in: pool, label: "icons", limit: .bytes(5))
    let exact = pool.tracked("exact", 10)
    try exact.ensureReady()
    exact.declaredSize = 11
    exact.invalidate()
    #expect(TooLarge { try exact.ensureReady() } == TooLarge("exact", needed: 11, limit: 10))
    let peaky = pool.tracked("peaky", 4)
    peaky.peak = 11
    #expect(TooLarge { try peaky.ensureReady() } == TooLarge("peaky", needed: 11, limit: 10))
    let icon = pool.tracked("icon", 6, group: group)
    #expect(TooLarge { try icon.ensureReady() } == TooLarge("icon", needed: 6, limit: 5, group: "icons"))
    let pair = pool.tracked(2, of: 6)
    #expect(TooLarge { try pool.withReady(pair) {} } == TooLarge("c0, c1", needed: 12, limit: 10))
    #expect(pool.used.bytes == 0 && pair.allSatisfy { $0.generations == 0 })
    // The same answer when one of them happens to be ready: together they never fit.
    try pair[0].ensureReady()
    #expect(TooLarge { try pool.withReady(pair) {} } == TooLarge("c0, c1", needed: 12, limit: 10))
    #expect(pair[0].isReady && pair[1].generations == 0)
    pool._checkInvariants()
  }

  @Test("Case 8: larger than declared: settled to the real size, others are freed to make room")
  func largerThanDeclared() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let others = pool.tracked(3, of: 2)
    for chunk in others { try chunk.ensureReady() }
    let chunk = pool.tracked("a", 4)
    chunk.sizeAfter = 7
    try chunk.ensureReady()
    #expect(readyLabels(others) == ["c2"] && pool.used.bytes == 9 && pool.snapshot().last?.size == 7)
    pool._checkInvariants()
    chunk.discard()
    #expect(pool.used.bytes == 2)
    keep(others)
  }

  @Test("Case 8: larger than declared and it cannot fit: freed again, and the error says so")
  func largerThanDeclaredAndNoRoom() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let tally = ByteTally()
    let other = pool.tracked("other", 4, tally: tally)
    let chunk = pool.tracked("a", 4, tally: tally)
    chunk.sizeAfter = 7
    let numbers = try other.withReady { refusal { try chunk.withReady {} } }
    #expect(numbers?.label == "a" && numbers?.needed == 7 && numbers?.pinned == 4 && numbers?.holders.first != nil)
    #expect(chunk.generations == 1 && chunk.frees == 1 && !chunk.isReady)
    #expect(pool.used.bytes == 4 && tally.bytes == 4)
    chunk.sizeAfter = 12
    #expect(TooLarge { try chunk.ensureReady() } == TooLarge("a", needed: 12, limit: 10))
    #expect(other.isReady && chunk.frees == 2 && pool.used.bytes == 4)
    // A group's limit is a limit too.
    let group = ChunkGroup(in: pool, label: "small", limit: .bytes(5))
    let member = pool.tracked("m", 3, group: group)
    member.sizeAfter = 6
    #expect(TooLarge { try member.ensureReady() } == TooLarge("m", needed: 6, limit: 5, group: "small"))
    #expect(group.totals.ready == 0 && group.totals.reserved == 0 && group.totals.freeing == 0)
    pool._checkInvariants()
  }

  @Test("Case 9: a working peak is reserved while generating, then settled")
  func workingPeak() throws {
    let pool = ChunkPool(budget: .bytes(12))
    let others = pool.tracked(4, of: 3)
    for chunk in others { try chunk.ensureReady() }
    let decoder = pool.tracked("decoder", 3)
    decoder.peak = 9
    let during = Locked<PoolStatistics?>(nil)
    decoder.hooks.generate = { [weak pool] _ in during.set(pool!.statistics) }
    try decoder.ensureReady()
    #expect(during.current?.reserved == 9 && during.current?.ready == 3 && during.current?.used == 12)
    #expect(readyLabels(others) == ["c3"])
    #expect(pool.used.bytes == 6 && pool.statistics.peak == 12)
    // A peak below the size means the size.
    let flat = pool.tracked("flat", 5)
    flat.peak = 1
    flat.hooks.generate = { [weak pool] _ in during.set(pool!.statistics) }
    try flat.ensureReady()
    #expect(during.current?.reserved == 5 && pool.used.bytes == 11)
    pool._checkInvariants()
    keep(others + [decoder, flat])
  }

  @Test("Case 9: a buffer's scratch is counted beside its pages")
  func workingPeakOfABuffer() throws {
    let pool = ChunkPool(budget: .kilobytes(64))
    let during = Locked(0)
    let buffer = BufferChunk(in: pool, size: 16_384, workingPeak: 49_152) { [weak pool] _ in
      during.set(pool!.statistics.reserved)
    }
    try buffer.ensureReady()
    #expect(during.current == 49_152 && pool.used.bytes == 16_384)
    pool._checkInvariants()
  }

  @Test("Case 10: eight threads generate 4 each in a budget of 10: the count holds and all finish")
  func eightThreads() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let tally = ByteTally()
    let chunks = pool.tracked(8, of: 4, tally: tally)
    let failures = Locked(0)
    let worst = Locked(0)
    let sampler = Sampler {
      let numbers = pool.statistics
      worst.withLock { $0 = max($0, numbers.ready + numbers.reserved + numbers.freeing) }
    }
    onThreads(8) { number in
      for round in 0..<40 {
        do {
          try chunks[number].withReady { #expect(chunks[number].isWhole) }
          if round % 4 == 0 { try chunks[(number + 1) % 8].ensureReady() }
        } catch { failures.withLock { $0 += 1 } }
      }
    }
    sampler.stop()
    pool._checkInvariants()
    #expect(failures.current == 0)
    #expect(worst.current <= 10 && tally.peak <= 10 && pool.statistics.peak <= 10)
    #expect(chunks.allSatisfy { $0.generations - $0.frees == ($0.isReady ? 1 : 0) })
  }
}
