import MemChunks
import MemoryLimits

/// Where a viewer keeps the pictures that it has drawn.
protocol Store {
  /// Shows a picture, drawing it first if it is not there.
  mutating func show(_ number: Int) throws
  /// How many of the views found their picture.
  var hits: Int { get }
  /// What is to be said at the end.
  var account: String { get }
}

/// The pictures as chunks of a pool that takes two fifths of what the process may have, whatever that is just now.
struct ChunkStore: Store {
  private let pool = ChunkPool(budget: .share(0.4))
  private let pictures: [BufferChunk]

  init() {
    let pool = pool
    pictures = (0..<Picture.count).map { number in
      let picture = Picture(number: number)
      return BufferChunk(in: pool, label: "picture \(number)", size: picture.byteCount) { bytes in
        bytes.withUnsafeMutableBytes { picture.draw(into: $0.bindMemory(to: UInt32.self)) }
      }
    }
    pool.respond(to: .system)
    for source in PressureMonitor.system.status { print("\(source.name): \(source.isLive) (\(source.detail))") }
  }

  mutating func show(_ number: Int) throws {
    try pictures[number].withBytes { bytes in
      let isDrawn = bytes.withUnsafeBytes { Picture(number: number).isDrawn(in: $0.bindMemory(to: UInt32.self)) }
      precondition(isDrawn, "picture \(number) is another")
    }
  }

  var hits: Int { pool.statistics.hits }

  var account: String {
    let numbers = pool.statistics
    return
      "budget \(pool.budget), peak \(ByteCount.bytes(numbers.peak)), \(numbers.generations) drawn, pressure \(pool.pressure)"
  }
}

/// The pictures in a dictionary, as most programs begin.
struct DictionaryStore: Store {
  private var pictures: [Int: [UInt32]] = [:]
  private(set) var hits = 0

  mutating func show(_ number: Int) {
    let picture = Picture(number: number)
    if pictures[number] != nil {
      hits += 1
    } else {
      pictures[number] = picture.drawn()
    }
    precondition(pictures[number]!.withUnsafeBufferPointer { picture.isDrawn(in: $0) }, "picture \(number) is another")
  }

  var account: String { "\(pictures.count) pictures kept" }
}
