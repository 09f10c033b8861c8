import Foundation
import MemChunks

/// A pool that is full of chunks of one size, and one chunk more than fits.
private func fullPool(_ count: Int) -> (pool: ChunkPool, chunks: [Blank]) {
  let pool = ChunkPool(budget: .bytes(count * 1_000))
  let chunks = (0...count).map { _ in Blank(in: pool, bytes: 1_000) }
  for chunk in chunks { try! chunk.ensureReady() }
  return (pool, chunks)
}

/// A miss that frees the least recently used chunk: a cycle of one chunk more than fits misses every time.
func benchmarkMisses(rounds: Int) {
  let measurements = [1_000, 10_000, 100_000, 1_000_000].map { count in
    let (pool, chunks) = fullPool(count)
    var next = 0
    return Measurement(name: "miss with eviction, \(count) chunks", count: 100_000) { steps in
      let time = nanoseconds {
        for _ in 0..<steps {
          try! chunks[next].ensureReady()
          next = next == count ? 0 : next + 1
        }
      }
      withExtendedLifetime((pool, chunks)) {}
      return time
    }
  }
  printTable("A miss, trivial generate", measurements, alternate(measurements, rounds: rounds))
}

/// A miss among chunks that are hit at random in between: the lazy heap has to look again.
func benchmarkMixed(rounds: Int) {
  let measurements = [1_000, 1_000_000].map { count in
    let (pool, chunks) = fullPool(count)
    var seed: UInt64 = 1
    var next = 0
    return Measurement(name: "10 random hits and a miss, \(count) chunks", count: 20_000) { steps in
      let time = nanoseconds {
        for _ in 0..<steps {
          for _ in 0..<10 {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let chunk = chunks[Int(seed >> 33) % chunks.count]
            if chunk.isReady { try! chunk.ensureReady() }
          }
          while chunks[next].isReady { next = next == count ? 0 : next + 1 }
          try! chunks[next].ensureReady()
        }
      }
      withExtendedLifetime((pool, chunks)) {}
      return time
    }
  }
  printTable("Hits between misses", measurements, alternate(measurements, rounds: rounds))
}

/// A request that finds everything in use: the first looks, the next remember.
func benchmarkRefusals(rounds: Int) {
  for count in [1_000, 1_000_000] {
    let pool = ChunkPool(budget: .bytes(count * 1_000))
    let chunks = (0..<count).map { _ in Blank(in: pool, bytes: 1_000) }
    let extra = Blank(in: pool, bytes: 1_000)
    for chunk in chunks { try! chunk.ensureReady() }
    let pins = try! pool.pin(chunks)
    let first = nanoseconds { consume((try? extra.ensureReady()) == nil) }
    let measurements = [
      Measurement(name: "refusal, \(count) pinned chunks", count: 20_000) { steps in
        nanoseconds { for _ in 0..<steps { if (try? extra.ensureReady()) != nil { fatalError("not refused") } } }
      }
    ]
    printTable(
      "A refusal; the first took \(Int(first / 1_000)) us", measurements, alternate(measurements, rounds: rounds))
    pins.unpin()

    // The same with everything protected by a frame.
    let frame = pool.beginFrame()
    for chunk in chunks { try! chunk.ensureReady() }
    let protected = [
      Measurement(name: "refusal, \(count) chunks in an open frame", count: 20_000) { steps in
        nanoseconds { for _ in 0..<steps { if (try? extra.ensureReady()) != nil { fatalError("not refused") } } }
      }
    ]
    printTable("A refusal inside a frame", protected, alternate(protected, rounds: rounds))
    frame.end()
    withExtendedLifetime(chunks) {}
  }
}

/// What an empty chunk costs, and that a million of them come and go.
func benchmarkMemory() {
  let pool = ChunkPool(budget: .megabytes(1))
  let before = residentBytes()
  var chunks: [MemChunk] = []
  chunks.reserveCapacity(1_000_000)
  let time = nanoseconds { for _ in 0..<1_000_000 { chunks.append(MemChunk(in: pool)) } }
  let each = Double(residentBytes() - before) / 1e6 - 8
  print(String(format: "\nA million empty chunks: made in %.0f ms, %.0f bytes each", time / 1e6, each))
  let drop = nanoseconds { chunks = [] }
  print(String(format: "dropped in %.0f ms", drop / 1e6))
}
