import MemChunks
import TestSupport
import Testing

/// Numbers that make no sense, at every entry that takes one: an error or the documented clamp, never a trap.
@Suite("Absurd numbers")
struct BadInputTests {
  private static let absurd = [Int.min, -1, .max, .max - 1, .max - 4_095, .max / 4 + 1]

  /// Whether the use of the chunk is refused as `invalidSize`, and leaves nothing behind.
  private static func isInvalid(_ chunk: MemChunk, in pool: ChunkPool) -> Bool {
    defer { pool._checkInvariants() }
    return outcome { try chunk.ensureReady() } == .invalidSize && !chunk.isReady && pool.used == .bytes(0)
  }

  @Test("BufferChunk(size:)", arguments: absurd)
  func bufferSize(size: Int) {
    let pool = ChunkPool(budget: .bytes(.max))
    #expect(Self.isInvalid(BufferChunk(in: pool, size: size) { _ in }, in: pool))
  }

  @Test("BufferChunk(workingPeak:)", arguments: absurd)
  func bufferPeak(peak: Int) {
    let pool = ChunkPool(budget: .bytes(.max))
    for size in [0, 1, 5_000] {
      #expect(Self.isInvalid(BufferChunk(in: pool, size: size, workingPeak: peak) { _ in }, in: pool), "\(size)")
    }
  }

  @Test("BufferChunk(size:workingPeak:), both absurd")
  func bufferSizeAndPeak() {
    let pool = ChunkPool(budget: .bytes(.max))
    for size in Self.absurd {
      for peak in Self.absurd {
        let chunk = BufferChunk(in: pool, size: size, workingPeak: peak) { _ in }
        #expect(Self.isInvalid(chunk, in: pool), "\(size), \(peak)")
      }
    }
  }

  @Test("BufferChunk.update", arguments: absurd)
  func bufferUpdate(number: Int) throws {
    let pool = ChunkPool(budget: .megabytes(1))
    let chunk = BufferChunk(in: pool, size: 1) { _ in }
    try chunk.ensureReady()
    chunk.update(size: number) { _ in }
    #expect(outcome { try chunk.ensureReady() } == .invalidSize)
    chunk.update(size: 1, workingPeak: number) { _ in }
    #expect(outcome { try chunk.ensureReady() } == .invalidSize)
    chunk.update(size: 1) { _ in }
    try chunk.withBytes { #expect($0.byteCount == 1) }
  }

  @Test("ValueChunk(size:), ValueChunk(workingPeak:) and update", arguments: absurd)
  func value(number: Int) throws {
    let pool = ChunkPool(budget: .bytes(.max))
    #expect(Self.isInvalid(ValueChunk(in: pool, size: number) { 1 }, in: pool))
    let chunk = ValueChunk(in: pool, size: 1, workingPeak: number) { 1 }
    #expect(Self.isInvalid(chunk, in: pool))
    chunk.update(size: number, workingPeak: number) { 1 }
    #expect(Self.isInvalid(chunk, in: pool))
    chunk.update(size: 1) { 2 }
    #expect(try chunk.withReady { $0 } == 2)
  }

  @Test("MemChunk.size, MemChunk.workingPeak, and size after generate()", arguments: absurd.map { max($0, .min + 1) })
  func subclass(number: Int) {
    let pool = ChunkPool(budget: .bytes(.max))
    #expect(Self.isInvalid(pool.tracked("size", number), in: pool))
    let peak = pool.tracked("peak", 1)
    peak.peak = number
    #expect(Self.isInvalid(peak, in: pool))
    let after = pool.tracked("after", 1)
    after.sizeAfter = number
    #expect(outcome { try after.ensureReady() } == .invalidSize)
    #expect(after.frees == after.generations && !after.isReady && pool.used == .bytes(0))
    pool._checkInvariants()
  }

  @Test("A working peak below the size means the size")
  func smallPeak() throws {
    let pool = ChunkPool(budget: .megabytes(1))
    let reserved = Locked(0)
    let note: @Sendable () -> Void = { [weak pool] in reserved.set(pool!.statistics.reserved) }
    let value = ValueChunk(in: pool, size: 100, workingPeak: 10) { note() }
    try value.ensureReady()
    #expect(reserved.current == 100 && pool.statistics.ready == 100)
    value.discard()
    let buffer = BufferChunk(in: pool, size: 8_192, workingPeak: 0) { _ in note() }
    try buffer.ensureReady()
    #expect(reserved.current == pool.statistics.ready && reserved.current >= 8_192)
    buffer.discard()
    let own = pool.tracked("own", 100)
    own.peak = 0
    own.hooks.generate = { _ in note() }
    try own.ensureReady()
    #expect(reserved.current == 100 && pool.statistics.ready == 100)
  }

  @Test("budget, keepLimit and trim(to:) below nothing are nothing, beyond everything a quarter of Int's range")
  func limits() throws {
    for pool in [ChunkPool(budget: .bytes(.min)), ChunkPool(budget: .megabytes(-1))] {
      #expect(pool.budget == .bytes(0))
      #expect(outcome { try pool.tracked("a", 1).ensureReady() } == .tooLarge)
    }
    let pool = ChunkPool(budget: .gigabytes(.max))
    let chunk = pool.tracked("a", 1)
    for limit in [Int.max, .min, -1] {
      pool.keepLimit = .bytes(limit)
      try chunk.withReady {}
      #expect(chunk.isReady == (limit > 0), "\(limit)")
    }
    pool.keepLimit = nil
    try chunk.ensureReady()
    pool.trim(to: .bytes(.max))
    #expect(chunk.isReady)
    pool.trim(to: .bytes(-1))
    #expect(!chunk.isReady)
    try chunk.ensureReady()
    pool.budget = .bytes(-1)
    #expect(!chunk.isReady && pool.budget == .bytes(0))
    pool._checkInvariants()
  }

  @Test("ChunkGroup(limit:) and limit below nothing are nothing, and may be as large as can be")
  func groupLimit() throws {
    let pool = ChunkPool(budget: .bytes(.max))
    let group = ChunkGroup(in: pool, label: "g", limit: .bytes(-1))
    let chunk = pool.tracked("a", 1, group: group)
    #expect(group.limit == .bytes(0))
    #expect(outcome { try chunk.ensureReady() } == .tooLarge)
    group.limit = .bytes(.max)
    try chunk.ensureReady()
    group.limit = .bytes(.min)
    #expect(!chunk.isReady)
    pool._checkInvariants()
  }

  @Test(
    "ChunkGroup(weight:) and weight: the least there is where they are not above 0, 1 where they are no number",
    arguments: [Double.nan, .signalingNaN, .infinity, -.infinity, 0, -0.0, -1, .leastNonzeroMagnitude])
  func weight(weight: Double) throws {
    let pool = ChunkPool(budget: .bytes(4))
    let group = ChunkGroup(in: pool, label: "g", weight: weight)
    let other = ChunkGroup(in: pool, label: "h", weight: 2)
    func check() throws {
      #expect(group.weight > 0 && group.weight.isFinite)
      if weight.isNaN { #expect(group.weight == 1) }
      let chunks = (0..<3).map { pool.tracked("c\($0)", 2, group: $0 == 0 ? group : other) }
      for chunk in chunks { try chunk.ensureReady() }
      // The heavier the group, the longer its chunk stays.
      #expect(chunks[0].isReady == (weight == .infinity))
      #expect(pool.snapshot().count == 2)
      pool._checkInvariants()
      keep(chunks)
    }
    try check()
    group.weight = 3
    group.weight = weight
    try check()
  }

  @Test(
    "keepShares, set as a whole or one by one: within 0 and 1, and nothing where they are no number",
    arguments: [(-1, 0), (-.infinity, 0), (2, 100), (.infinity, 100), (.nan, 0), (1e300, 100)] as [(Double, Int)])
  func keepShares(share: Double, kept: Int) throws {
    for level in [PressureLevel.warning, .critical] {
      for isWhole in [true, false] {
        let pool = ChunkPool(budget: .bytes(100), time: ManualClock().read)
        let chunks = pool.tracked(10, of: 10)
        for chunk in chunks { try chunk.ensureReady() }
        if isWhole {
          pool.keepShares = KeepShares(warning: share, critical: share)
        } else {
          pool.keepShares.warning = share
          pool.keepShares.critical = share
        }
        #expect(pool.keepShares.warning == Double(kept) / 100 && pool.keepShares.critical == Double(kept) / 100)
        pool.report(level)
        #expect(pool.statistics.keepLimit == kept && pool.statistics.ready == kept)
        pool._checkInvariants()
        keep(chunks)
      }
    }
  }

  /// Durations beyond what nanoseconds in 64 bits can say, on either side.
  private static let long: [Duration] = [
    .seconds(Int64.max), .seconds(20_000_000_000), .seconds(18_446_744_074), .seconds(1 << 31),
  ]

  @Test("keepShares.recoveryStep: less than nothing is at once, endless is never")
  func recoveryStep() throws {
    let clock = ManualClock()
    let pool = ChunkPool(budget: .bytes(100), time: clock.read)
    func limitAfterAMinute(step: Duration) throws -> Int {
      pool.keepShares.recoveryStep = step
      pool.report(.critical)
      pool.report(.normal)
      clock.advance(by: .seconds(60))
      try pool.tracked("visitor", 1).ensureReady()
      return pool.statistics.keepLimit
    }
    for step in Self.long { #expect(try limitAfterAMinute(step: step) == 0, "\(step)") }
    for step in [Duration.zero, .seconds(-1), .seconds(Int64.min), .nanoseconds(-1)] {
      #expect(try limitAfterAMinute(step: step) == 100, "\(step)")
    }
  }

  @Test("free(unusedFor:): less than nothing frees all that is unused, endless nothing")
  func unusedFor() throws {
    let clock = ManualClock(startingAt: 10_000_000_000_000)
    let pool = ChunkPool(budget: .bytes(100), time: clock.read)
    let chunk = pool.tracked("a", 1)
    try chunk.ensureReady()
    clock.advance(by: .seconds(1))
    pool.free(unusedFor: .seconds(5_000))
    clock.advance(by: .seconds(9_000))
    for age in Self.long {
      pool.free(unusedFor: age)
      #expect(chunk.isReady, "\(age)")
    }
    for age in [Duration.seconds(-1), .seconds(Int64.min), .nanoseconds(-1), .zero] {
      try chunk.ensureReady()
      pool.free(unusedFor: age)
      #expect(!chunk.isReady, "\(age)")
    }
  }

  @Test("waitingUpTo: less than nothing does not wait, endless waits for as long as it takes")
  func waitingUpTo() async throws {
    for limit in [Duration.seconds(-1), .seconds(Int64.min), .nanoseconds(-1), .zero] {
      let pool = ChunkPool(budget: .bytes(10))
      let pin = try HeldPin(pool.tracked("held", 10))
      let one = pool.tracked("one", 1)
      let isRefused = blocking { outcome { try one.ensureReady(waitingUpTo: limit) } == .noRoom(.deadline) }
      #expect(isRefused)
      // The time is up before or after the request is in line.
      let end = await outcome { () async throws in try await one.ensureReady(waitingUpTo: limit) }
      #expect(end == .noRoom(.deadline) || end == .cancelled(atDeadline: true))
      withExtendedLifetime(pin) {}
    }
    for limit in Self.long {
      let pool = ChunkPool(budget: .bytes(10))
      let held = pool.tracked("held", 10), wanted = [pool.tracked("one", 1), pool.tracked("two", 1)]
      let pin = Locked<HeldPin?>(try HeldPin(held))
      async let task = outcome { () async throws in try await wanted[0].ensureReady(waitingUpTo: limit) }
      let thread = TestThread { #expect(outcome { try wanted[1].ensureReady(waitingUpTo: limit) } == .ready) }
      let waits = await ends {
        while pool._waiting < 2 { await Task.yield() }
      }
      #expect(waits, "\(limit)")
      pin.set(nil)
      #expect(await task == .ready, "\(limit)")
      thread.join()
      pool._checkInvariants()
    }
  }

  /// Keeps the compiler from choosing the suspending forms inside.
  private func blocking<R>(_ body: () -> R) -> R { body() }

  @Test("generationLimit below 1 is 1", arguments: [0, -1, Int.min])
  func generationLimit(limit: Int) throws {
    let pool = ChunkPool(budget: .bytes(10))
    pool.generationLimit = limit
    #expect(pool.generationLimit == 1)
    let chunk = pool.tracked("a", 1)
    try chunk.ensureReady()
    #expect(chunk.isReady)
  }

  @Test("deferFree of less than nothing, or of more than there is", arguments: [Int.min, -1, .max])
  func deferredBytes(bytes: Int) throws {
    let pool = ChunkPool(budget: .bytes(10))
    let late = Locked<LateFree?>(nil)
    let chunk = pool.tracked("a", 4)
    chunk.hooks.free = { late.set($0.deferFree(bytes)) }
    try chunk.ensureReady()
    chunk.discard()
    #expect(pool.statistics.freeing == (bytes > 0 ? 4 : 0))
    late.set(nil)
    #expect(pool.used == .bytes(0))
    pool._checkInvariants()
  }
}
