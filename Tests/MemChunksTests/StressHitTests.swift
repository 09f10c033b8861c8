import MemChunks
import Synchronization
import TestSupport
import Testing

/// Case 52: a hit that races an eviction.
@Suite("Stress: hits against evictions", .timeLimit(.hang))
struct StressHitTests {
  #if DEBUG
    private static let million = Stress.rounds(100_000)
  #else
    private static let million = Stress.rounds(1_000_000)
  #endif

  /// When something happened: in which miss of the evicting thread, and to which product. Packed, so that it can be
  /// published at once.
  private static func moment(_ miss: Int, _ generation: Int) -> Int { miss << 24 | generation & 0xff_ffff }

  @Test("Case 52: a chunk touched between the look and the claim is not the victim")
  func secondLook() async throws {
    final class Race: Sendable {
      let miss = Atomic<Int>(0)
      let lastHit = Atomic<Int>(-1)
      let lastFree = Atomic<Int>(-2)
      let wrong = Atomic<Int>(0)
      let hits = Atomic<Int>(0)
      let isOver = Atomic<Bool>(false)
    }
    let race = Race()
    let pool = ChunkPool(budget: .bytes(3))
    let hot = TrackedChunk(in: pool, label: "hot", size: 1)
    // Two of the cold ones fit beside the hot one, and the older of them was always used before it.
    let cold = (0..<4).map { TrackedChunk(in: pool, label: "cold \($0)", size: 1) }
    hot.hooks.free = { hot in
      let now = Self.moment(race.miss.load(ordering: .sequentiallyConsistent), hot.generations)
      race.lastFree.store(now, ordering: .sequentiallyConsistent)
      // A hit in the same miss, on the same product, came before the claim: the chunk had just been used.
      if race.lastHit.load(ordering: .sequentiallyConsistent) == now { race.wrong.add(1, ordering: .relaxed) }
    }
    let seed = Stress.seed("hits against evictions")
    try await noHang(onThreads: 2) { index in
      if index == 0 {
        for round in 1...Self.million {
          race.miss.store(round, ordering: .sequentiallyConsistent)
          try! cold[round % 4].ensureReady()
        }
        race.isOver.store(true, ordering: .releasing)
        return
      }
      var random = SeededGenerator(seed: seed)
      while !race.isOver.load(ordering: .acquiring) {
        let miss = race.miss.load(ordering: .sequentiallyConsistent)
        let generation = hot.generations
        try! hot.ensureReady()
        if hot.generations == generation {
          let now = Self.moment(miss, generation)
          race.hits.add(1, ordering: .relaxed)
          race.lastHit.store(now, ordering: .sequentiallyConsistent)
          if race.lastFree.load(ordering: .sequentiallyConsistent) == now { race.wrong.add(1, ordering: .relaxed) }
        }
        // Now and then long enough for the chunk to become the oldest.
        for _ in 0..<Int.random(in: 0..<200, using: &random) { _ = race.isOver.load(ordering: .relaxed) }
      }
    }
    let evictions = hot.frees
    #expect(race.wrong.load(ordering: .relaxed) == 0, "seed \(seed)")
    #expect(race.hits.load(ordering: .relaxed) > 0)
    print("case 52: \(race.hits.load(ordering: .relaxed)) hits, the hot chunk went \(evictions) times")
    hot.hooks.free = nil
    checkNothingIsLeft(of: pool)
  }

  @Test("Case 52: the product that a hit sees is whole, whoever makes room meanwhile", arguments: ["memory", "value"])
  func whole(kind: String) async throws {
    let pool = ChunkPool(budget: .bytes(20))
    let owned = (0..<3).map { TrackedChunk(in: pool, label: "owned \($0)", size: 10) }
    let values = (0..<3).map { number in
      ValueChunk(in: pool, label: "value \(number)", size: 10) { Array(repeating: number, count: 50) }
    }
    try await noHang(onThreads: 2) { index in
      for round in 0..<Self.million / 4 {
        let number = (round * (index + 1) + round / 7) % 3
        if kind == "memory" {
          try! owned[number].withReady { precondition(owned[number].isWhole) }
        } else {
          try! values[number].withReady { precondition($0.count == 50 && $0[0] == number && $0[49] == number) }
        }
      }
    }
    checkNothingIsLeft(of: pool)
  }
}
