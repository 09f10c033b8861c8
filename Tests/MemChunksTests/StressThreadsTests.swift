import MemChunks
import TestSupport
import Testing

/// Many threads do everything at random on one pool.
@Suite("Stress: threads", .timeLimit(.hang))
struct StressThreadsTests {
  /// One thread's way through the pool.
  private final class Walker {
    let pool: ChunkPool
    let chunks: [TrackedChunk]
    var random: SeededGenerator
    var odd: [Outcome] = []

    init(_ pool: ChunkPool, _ chunks: [TrackedChunk], seed: UInt64) {
      self.pool = pool
      self.chunks = chunks
      random = SeededGenerator(seed: seed)
    }

    func pick() -> TrackedChunk { chunks.randomElement(using: &random)! }

    /// A use; what is not wanted may be refused, and must not fail in any other way.
    func note(_ body: () throws -> Void) {
      let outcome = outcome(body)
      if !Stress.allows(outcome) { odd.append(outcome) }
    }

    func step(_ changesBudget: Bool) {
      let chunk = pick()
      let limit: Duration? = Int.random(in: 0..<8, using: &random) == 0 ? .microseconds(200) : nil
      switch Int.random(in: 0..<24, using: &random) {
      case 0..<8: note { try chunk.withReady(waitingUpTo: limit) { precondition(chunk.isWhole) } }
      case 8..<11: note { try chunk.ensureReady(waitingUpTo: limit) }
      case 11:
        note {
          let pin = try chunk.pin(waitingUpTo: limit)
          precondition(pin.chunk.isWhole)
        }
      case 12, 13:
        let several = (0..<3).map { _ in pick() }
        note {
          try pool.withReady(several, waitingUpTo: limit) { for chunk in several { precondition(chunk.isWhole) } }
        }
      case 14:
        let other = pick()
        note { try chunk.withReady { try other.withReady { precondition(chunk.isWhole && other.isWhole) } } }
      case 15:
        let several = (0..<3).map { _ in pick() }
        note { try pool.frame { for chunk in several { try chunk.ensureReady() } } }
      case 16: chunk.invalidate()
      case 17: chunk.discard()
      case 18:
        if Int.random(in: 0..<4, using: &random) == 0 { pool.freeAll() } else { pool.trim(to: .bytes(30)) }
      case 19: pool.report(PressureLevel.allCases.randomElement(using: &random)!)
      case 20: pool.prefetch([chunk, pick()])
      case 21: pool.free(unusedFor: .microseconds(100))
      case 22:
        _ = pool.snapshot()
        pool._checkInvariants()
      default:
        if changesBudget {
          pool.budget = .bytes(Int.random(in: 40...100, using: &random))
        } else {
          pool.keepLimit = Bool.random(using: &random) ? nil : .bytes(Int.random(in: 0...100, using: &random))
        }
      }
    }
  }

  @Test("plain chunks, everything at random", arguments: [false, true])
  func everything(changesBudget: Bool) async throws {
    let seed = Stress.seed("threads, everything")
    let pool = ChunkPool(budget: .bytes(100))
    pool.keepShares = KeepShares(recoveryStep: .microseconds(300))
    let tally = ByteTally()
    let chunks = (0..<24).map { index in
      TrackedChunk(in: pool, label: "\(index)", size: 1 + index, tally: tally)
    }
    // Some need others, later ones only, so that there is no ring but by accident of several at once.
    for index in stride(from: 0, to: 18, by: 5) {
      chunks[index].hooks.generate = { [unowned other = chunks[index + 3]] _ in try other.withReady {} }
    }
    for index in stride(from: 2, to: 24, by: 7) {
      chunks[index].hooks.free = { [unowned other = chunks[(index + 1) % 24]] _ in _ = try? other.ensureReady() }
    }
    for index in stride(from: 1, to: 24, by: 6) {
      chunks[index].hooks.generate = { chunk in if chunk.generations % 5 == 0 { throw Mishap(index) } }
    }
    let odd = Locked<[Outcome]>([])
    let sampler = sampler(of: pool, mayExceed: changesBudget)
    try await noHang(onThreads: 6) { index in
      let walker = Walker(pool, chunks, seed: seed &+ UInt64(index))
      for _ in 0..<Stress.rounds(3_000) { walker.step(changesBudget) }
      odd.withLock { $0 += walker.odd }
    }
    sampler.stop()
    #expect(odd.current.isEmpty, "seed \(seed): \(odd.current.prefix(3))")
    for chunk in chunks { chunk.hooks = .init() }
    checkNothingIsLeft(of: pool)
    #expect(changesBudget || tally.peak <= 100)
    #expect(tally.bytes == 0)
    for chunk in chunks { #expect(!chunk.hasProduct) }
  }

  @Test("chunks come and go while others make room")
  func comingAndGoing() async throws {
    let seed = Stress.seed("threads, coming and going")
    let pool = ChunkPool(budget: .bytes(60))
    let tally = ByteTally()
    let shared = (0..<8).map { _ in Locked<TrackedChunk?>(nil) }
    let made = ByteTally()
    let sampler = sampler(of: pool)
    try await noHang(onThreads: 6) { index in
      var random = SeededGenerator(seed: seed &+ UInt64(index))
      for round in 0..<Stress.rounds(4_000) {
        let place = shared.randomElement(using: &random)!
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1:
          made.add(1)
          place.set(
            TrackedChunk(
              in: pool, label: "\(index).\(round)", size: Int.random(in: 0...20, using: &random), tally: tally))
        case 2: place.set(nil)
        default:
          guard let chunk = place.current else { continue }
          _ = outcome { try chunk.withReady { precondition(chunk.isWhole) } }
        }
      }
    }
    sampler.stop()
    for place in shared { place.set(nil) }
    // Everything is gone; the last products went with their chunks.
    #expect(pool.used == .bytes(0))
    #expect(tally.bytes == 0)
    #expect(tally.peak <= 60)
    pool._checkInvariants()
  }

  @Test("groups with limits, one of them bound to a thread")
  func groups() async throws {
    let seed = Stress.seed("threads, groups")
    let pool = ChunkPool(budget: .bytes(60))
    let tally = ByteTally()
    let groups = [
      ChunkGroup(in: pool, label: "small", limit: .bytes(15)), ChunkGroup(in: pool, label: "heavy", weight: 3),
      ChunkGroup(in: pool, label: "bound"),
    ]
    let chunks = (0..<24).map { index in
      TrackedChunk(
        in: pool, group: groups[index % 3], label: "\(index)", size: 1 + index % 8, tally: tally)
    }
    let odd = Locked<[Outcome]>([])
    let left = ByteTally()
    left.add(5)
    let sampler = sampler(of: pool)
    let isBound = Gate()
    try await noHang(onThreads: 5) { index in
      if index == 0 {
        groups[2].bindToCurrentThread()
        isBound.open()
      }
      isBound.wait()
      var random = SeededGenerator(seed: seed &+ UInt64(index))
      for _ in 0..<Stress.rounds(3_000) {
        let chunk = chunks.randomElement(using: &random)!
        let outcome = outcome {
          switch Int.random(in: 0..<6, using: &random) {
          case 0: chunk.discard()
          case 1: chunk.invalidate()
          case 2: try pool.withReady([chunk, chunks.randomElement(using: &random)!]) { precondition(chunk.isWhole) }
          default: try chunk.withReady { precondition(chunk.isWhole) }
          }
        }
        precondition(groups[0].totals.ready <= 15)
        if outcome != .ready, !outcome.isRefusal { odd.withLock { $0.append(outcome) } }
      }
      left.add(-1)
      // The owner goes on until the others are done, as a run loop would.
      while index == 0, left.bytes > 0 { groups[2].freeQueued() }
      if index == 0 {
        pool.freeAll()
        groups[2].freeQueued()
      }
    }
    sampler.stop()
    #expect(odd.current.isEmpty, "seed \(seed): \(odd.current.prefix(3))")
    checkNothingIsLeft(of: pool)
    #expect(tally.bytes == 0)
    #expect(tally.peak <= 60)
  }
}
