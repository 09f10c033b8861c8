import Foundation
import MemChunks
import Synchronization

/// A product of a given size that costs nothing to make: what is measured is the pool.
final class Blank: MemChunk, @unchecked Sendable {
  let bytes: Int

  init(in pool: ChunkPool, bytes: Int) {
    self.bytes = bytes
    super.init(in: pool)
  }

  override var size: Int { bytes }
}

/// What people write by hand: a dictionary behind a mutex, least recently used by a counter.
final class DictionaryCache: Sendable {
  private struct State {
    var entries: [Int: (value: Blank, stamp: UInt64)] = [:]
    var clock: UInt64 = 0
  }

  private let state = Mutex(State())

  func insert(_ key: Int, _ value: Blank) {
    state.withLock { $0.entries[key] = (value, 0) }
  }

  func bytes(_ key: Int) -> Int {
    state.withLock { state in
      state.clock += 1
      state.entries[key]?.stamp = state.clock
      return state.entries[key]!.value.bytes
    }
  }
}

final class Key: NSObject {
  let number: Int
  init(_ number: Int) { self.number = number }
  override var hash: Int { number }
  override func isEqual(_ other: Any?) -> Bool { (other as? Key)?.number == number }
}

/// Hits on a thousand ready chunks in a random order.
func benchmarkHits(rounds: Int) {
  let pool = ChunkPool(budget: .megabytes(64))
  let chunks = (0..<1_000).map { _ in Blank(in: pool, bytes: 1_000) }
  for chunk in chunks { try! chunk.ensureReady() }
  var generator = SystemRandomNumberGenerator()
  let order = (0..<1_000).map { _ in Int.random(in: 0..<1_000, using: &generator) }
  let counters = (0..<1_000).map { _ in Counter() }
  let dictionary = DictionaryCache()
  let cache = NSCache<Key, Blank>()
  let keys = (0..<1_000).map { Key($0) }
  for index in 0..<1_000 {
    dictionary.insert(index, chunks[index])
    cache.setObject(chunks[index], forKey: keys[index], cost: 1_000)
  }

  func loop(_ name: String, _ count: Int, _ body: @escaping (Int) -> Int) -> Measurement {
    Measurement(name: name, count: count) { count in
      var sum = 0
      let time = nanoseconds { for step in 0..<count { sum &+= body(order[step % 1_000]) } }
      consume(sum)
      return time
    }
  }
  // An element taken out of an array is retained and released around its use, two atomic operations that are the
  // loop's and not the hit's; these references go without.
  let borrowed = chunks.map { Unmanaged.passUnretained($0) }
  let borrowedCounters = counters.map { Unmanaged.passUnretained($0) }
  let measurements = [
    loop("one uncontended atomic addition", 2_000_000) { borrowedCounters[$0]._withUnsafeGuaranteedRef { $0.add() } },
    loop("hit: withReady", 2_000_000) { index in
      borrowed[index]._withUnsafeGuaranteedRef { chunk in try! chunk.withReady { 1 } }
    },
    loop("hit: ensureReady", 2_000_000) { index in
      borrowed[index]._withUnsafeGuaranteedRef { chunk in try! chunk.ensureReady() }
      return 1
    },
    loop("hit: withReady, of an array's element", 2_000_000) { index in try! chunks[index].withReady { 1 } },
    loop("hit: pin and unpin", 1_000_000) { index in
      let pin = try! chunks[index].pin()
      return pin.chunk.bytes
    },
    loop("Mutex and Dictionary", 1_000_000) { dictionary.bytes($0) },
    loop("NSCache", 300_000) { cache.object(forKey: keys[$0])!.bytes },
  ]
  printTable("A hit, 1 000 ready chunks, random order", measurements, alternate(measurements, rounds: rounds))
  withExtendedLifetime((chunks, counters)) {}
}

final class Counter: Sendable {
  let value = Atomic<Int>(0)
  @inline(__always)
  func add() -> Int { value.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue }
}

/// Two threads that hit different chunks of one pool, against two threads with a pool each: what the pool shares would
/// show as the difference. One thread alone is beside it; two processors of a virtual machine may be one core, so two
/// threads can be slower even with nothing shared.
func benchmarkTwoThreads(rounds: Int) {
  let (first, second) = (ChunkPool(budget: .megabytes(64)), ChunkPool(budget: .megabytes(64)))
  func ready(in pool: ChunkPool) -> [Blank] {
    let chunks = (0..<1_000).map { _ in Blank(in: pool, bytes: 1_000) }
    for chunk in chunks { try! chunk.ensureReady() }
    return chunks
  }
  let (left, right, other) = (ready(in: first), ready(in: first), ready(in: second))

  func threads(_ name: String, _ sets: [[Blank]]) -> Measurement {
    Measurement(name: name, count: 2_000_000) { count in
      nanoseconds {
        DispatchQueue.concurrentPerform(iterations: sets.count) { thread in
          let chunks = sets[thread]
          for step in 0..<count { try! chunks[step % 1_000].withReady {} }
        }
      }
    }
  }
  let measurements = [
    threads("2 threads, a pool each", [left, other]), threads("2 threads, one pool", [left, right]),
    threads("1 thread", [left]),
  ]
  printTable(
    "A hit, per thread, each on chunks of its own", measurements, alternate(measurements, rounds: rounds))
}
