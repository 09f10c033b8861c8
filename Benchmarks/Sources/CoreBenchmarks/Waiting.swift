import Foundation
import MemChunks
import Synchronization

/// A product whose making waits until it is told to end.
private final class Slow: MemChunk, @unchecked Sendable {
  let mayEnd = DispatchSemaphore(value: 0)

  override var size: Int { 1_000 }
  override func generate() { mayEnd.wait() }
}

/// Tasks that wait, asked together and let go when all have asked.
private struct Crowd {
  let pool: ChunkPool
  let chunks: [MemChunk]
  let begin: @Sendable () -> Void
  let letGo: @Sendable () -> Void

  /// So many tasks for room of their own, all of which a scope holds at first.
  static func forRoom(_ count: Int, size: @escaping (Int) -> Int, limit: Int? = nil) -> Crowd {
    let pool = ChunkPool(budget: .bytes(4_000))
    let holder = Blank(in: pool, bytes: 4_000)
    pool.generationLimit = limit
    let isOver = DispatchSemaphore(value: 0)
    return Crowd(
      pool: pool, chunks: (0..<count).map { Blank(in: pool, bytes: size($0)) },
      begin: {
        let isHeld = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
          try! holder.withReady {
            isHeld.signal()
            isOver.wait()
          }
        }
        isHeld.wait()
      },
      letGo: { isOver.signal() })
  }

  /// So many tasks for the generation of one chunk, which another thread makes.
  static func forGeneration(_ count: Int) -> Crowd {
    let pool = ChunkPool(budget: .bytes(4_000))
    let slow = Slow(in: pool)
    return Crowd(
      pool: pool, chunks: Array(repeating: slow, count: count),
      begin: {
        Thread.detachNewThread { try! slow.ensureReady() }
        while pool.statistics.reserved == 0 { usleep(100) }
      },
      letGo: { slow.mayEnd.signal() })
  }

  /// Nanoseconds from the first question to the last answer.
  func run() -> Double {
    begin()
    let asked = Counter()
    let answered = DispatchSemaphore(value: 0)
    return nanoseconds {
      for chunk in chunks {
        Task {
          _ = asked.add()
          try! await chunk.withReady {}
          answered.signal()
        }
      }
      // The last of them may not have come to wait yet; that is nothing among so many.
      while asked.value.load(ordering: .acquiring) < chunks.count { usleep(100) }
      letGo()
      for _ in chunks { answered.wait() }
    }
  }
}

/// What each of many waiting tasks costs: about the same, however many there are.
func benchmarkWaiting(rounds: Int) {
  let crowds: [(name: String, make: (Int) -> Crowd)] = [
    ("for room, one size", { .forRoom($0, size: { _ in 1_000 }) }),
    ("for room, many sizes", { .forRoom($0, size: { 1_000 + $0 * 7_919 % 3_000 }) }),
    ("for room, one generation at a time", { .forRoom($0, size: { _ in 1_000 }, limit: 1) }),
    ("for one generation", { .forGeneration($0) }),
  ]
  for (name, make) in crowds {
    let measurements = [1_000, 16_000].map { count in
      Measurement(name: "\(count) tasks wait \(name)", count: count) { _ in make(count).run() }
    }
    printTable("Waiting \(name), per task", measurements, alternate(measurements, rounds: rounds))
  }
}
