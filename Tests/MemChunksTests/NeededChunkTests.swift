import MemChunks
import TestSupport
import Testing

/// The cost of a chunk that is generated from others is what generating it now would take.
@Suite struct NeededChunkTests {
  private let clock = ManualClock()

  private func chunk(
    _ label: String, in pool: ChunkPool, size: Int, milliseconds: Int, from others: [MemChunk] = []
  ) -> ValueChunk<Int> {
    ValueChunk(in: pool, label: label, size: size) { [clock] in
      for other in others { try other.ensureReady() }
      clock.advance(by: .milliseconds(milliseconds))
      return size
    }
  }

  @Test("time inside another generation is counted once")
  func countedOnce() throws {
    let pool = ChunkPool(budget: .bytes(1_000), policy: .costAware, time: clock.read)
    let file = chunk("file", in: pool, size: 10, milliseconds: 100)
    let compact = chunk("compact", in: pool, size: 10, milliseconds: 20, from: [file])
    let pixels = chunk("pixels", in: pool, size: 10, milliseconds: 3, from: [compact])
    try pixels.ensureReady()
    #expect(pool.statistics.nanosecondsGenerating == 123_000_000)
    let costs = pool.snapshot().map(\.nanoseconds).sorted()
    #expect(costs == [3_000_000, 20_000_000, 100_000_000])
    withExtendedLifetime([file, compact, pixels]) {}
  }

  /// Pixels that are cheap to make from what is ready, beside others of middling cost, and a newcomer for which one goes.
  private func whoGoes(_ before: (ValueChunk<Int>) -> Void) throws -> String {
    let pool = ChunkPool(budget: .bytes(230), policy: .costAware, time: clock.read)
    let compact = chunk("compact", in: pool, size: 10, milliseconds: 100)
    let pixels = chunk("pixels", in: pool, size: 100, milliseconds: 1, from: [compact])
    let other = chunk("other", in: pool, size: 100, milliseconds: 20)
    try pixels.ensureReady()
    try other.ensureReady()
    before(compact)
    let newcomer = chunk("newcomer", in: pool, size: 100, milliseconds: 20)
    try newcomer.ensureReady()
    let chunks = [compact, pixels, other, newcomer]
    defer { withExtendedLifetime(chunks) {} }
    return chunks.filter { !$0.isReady }.map(\.label).joined(separator: " ")
  }

  @Test func whatCanBeMadeFromWhatIsReadyIsCheap() throws {
    #expect(try whoGoes { _ in } == "pixels")
  }

  @Test func itIsDearOnceThatHasGone() throws {
    #expect(try whoGoes { $0.discard() } == "compact other")
  }

  @Test func andCheapAgainOnceThatIsBack() throws {
    #expect(
      try whoGoes { compact in
        compact.discard()
        try? compact.ensureReady()
      } == "pixels")
  }

  @Test("a chain passes it on: through what is not ready to what is")
  func chain() throws {
    let pool = ChunkPool(budget: .bytes(230), policy: .costAware, time: clock.read)
    let file = chunk("file", in: pool, size: 10, milliseconds: 100)
    let compact = chunk("compact", in: pool, size: 10, milliseconds: 1, from: [file])
    let pixels = chunk("pixels", in: pool, size: 100, milliseconds: 1, from: [compact])
    let other = chunk("other", in: pool, size: 100, milliseconds: 20)
    try pixels.ensureReady()
    try other.ensureReady()
    compact.discard()
    file.discard()
    let newcomer = chunk("newcomer", in: pool, size: 100, milliseconds: 20)
    try newcomer.ensureReady()
    #expect(pixels.isReady && !other.isReady)
    withExtendedLifetime([file, compact, pixels, other, newcomer]) {}
  }

  @Test("a compact picture outlives the pixels made from it")
  func compactStays() throws {
    let pool = ChunkPool(budget: .bytes(1_000), policy: .costAware, time: clock.read)
    let compacts = (0..<20).map { chunk("compact \($0)", in: pool, size: 20, milliseconds: 30) }
    let pixels = compacts.map { chunk("pixels", in: pool, size: 250, milliseconds: 2, from: [$0]) }
    for round in 0..<5 { for index in 0..<20 { try pixels[(index * 7 + round) % 20].ensureReady() } }
    // Each is generated from its file once.
    #expect(compacts.allSatisfy { $0.isReady })
    #expect(pool.statistics.nanosecondsGenerating < 20 * 30_000_000 + 100 * 2_000_000 + 1)
    withExtendedLifetime(compacts + pixels) {}
  }

  @Test func whatWasNeededMayGoBeforeWhatNeededIt() throws {
    let pool = ChunkPool(budget: .bytes(1_000), policy: .costAware, time: clock.read)
    var pixels: ValueChunk<Int>?
    do {
      let compact = chunk("compact", in: pool, size: 10, milliseconds: 100)
      pixels = chunk("pixels", in: pool, size: 100, milliseconds: 1, from: [compact])
      try pixels?.ensureReady()
    }
    pixels?.invalidate()
    pixels = nil
    #expect(pool.used == .bytes(0))
  }
}
