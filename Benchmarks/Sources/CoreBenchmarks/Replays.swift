import ChunkTrace
import Foundation
import MemChunks

/// Requests a second that a replay serves, of a million requests that favour few of 50 000 objects, with room for a tenth.
func benchmarkReplays(rounds: Int) {
  var trace = Trace()
  var generator = SystemRandomNumberGenerator()
  for _ in 0..<1_000_000 {
    let object = Int.random(in: 0...Int.random(in: 0..<50_000, using: &generator), using: &generator)
    trace.append(key: UInt64(object), size: 1_000 + object % 1_000, cost: UInt64(1_000 * (1 + object % 97)))
  }
  let budget = trace.footprint / 10
  let measurements = [ReplayPolicy.lru, .sieve, .gdsf, .costAware, .adaptive].map { policy in
    Measurement(name: policy.rawValue, count: trace.requests.count) { _ in
      nanoseconds { consume(trace.replay(policy, budget: budget).misses) }
    }
  }
  let samples = alternate(measurements, rounds: rounds)
  printTable("A request of a replay", measurements, samples)
  for (measurement, sample) in zip(measurements, samples) {
    print("\(measurement.name): \(Int(1e9 / median(sample))) requests a second")
  }
}

/// What a recorder, and the order that listens to requests, add to a hit.
func benchmarkWatchedHits(rounds: Int) {
  func ready(_ policy: EvictPolicy) -> (pool: ChunkPool, chunks: [Blank]) {
    let pool = ChunkPool(budget: .megabytes(64), policy: policy)
    let chunks = (0..<1_000).map { _ in Blank(in: pool, bytes: 1_000) }
    for chunk in chunks { try! chunk.ensureReady() }
    return (pool, chunks)
  }
  let (plain, recorded, adaptive) = (ready(.lru), ready(.lru), ready(.adaptive))
  let path = NSTemporaryDirectory() + "benchmark-\(getpid()).trace"
  defer { unlink(path) }
  let recorder = try! TraceRecorder(of: recorded.pool, to: path)
  func hits(_ name: String, _ chunks: [Blank]) -> Measurement {
    let borrowed = chunks.map { Unmanaged.passUnretained($0) }
    return Measurement(name: name, count: 1_000_000) { count in
      nanoseconds {
        for step in 0..<count { borrowed[step % 1_000]._withUnsafeGuaranteedRef { try! $0.ensureReady() } }
      }
    }
  }
  let measurements = [
    hits("hit: ensureReady", plain.chunks), hits("the same, recorded", recorded.chunks),
    hits("the same, adaptive", adaptive.chunks),
  ]
  printTable("A hit that somebody listens to", measurements, alternate(measurements, rounds: rounds))
  try! recorder.close()
  withExtendedLifetime((plain, recorded, adaptive)) {}
}
