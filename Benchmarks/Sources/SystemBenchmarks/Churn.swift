import CHeap
import Glibc
import MemChunks

/// Products of 16 KB to 4 MB, as many small as large ones by their logarithm, in an order that is always the same.
struct Sizes {
  private var state: UInt64 = 7

  mutating func next() -> Int {
    let least = 16 << (10 + random(below: 8))
    return least + random(below: least)
  }

  /// SplitMix64 (Steele, Lea, Flood 2014).
  mutating func random(below bound: Int) -> Int {
    state &+= 0x9e37_79b9_7f4a_7c15
    var bits = state
    bits = (bits ^ bits >> 30) &* 0xbf58_476d_1ce4_e5b9
    bits = (bits ^ bits >> 27) &* 0x94d0_49bb_1331_11eb
    return Int((bits ^ bits >> 31) % UInt64(bound))
  }
}

/// Writes to every page, as whoever makes a product does.
func touch(_ memory: UnsafeMutableRawPointer, _ count: Int) {
  for offset in stride(from: 0, to: count, by: 4_096) { memory.storeBytes(of: 1, toByteOffset: offset, as: UInt8.self) }
}

/// A product in memory of the C library's.
final class HeapChunk: MemChunk, @unchecked Sendable {
  private let byteCount: Int
  private var memory: UnsafeMutableRawPointer?

  init(in pool: ChunkPool, _ byteCount: Int) {
    self.byteCount = byteCount
    super.init(in: pool)
  }

  override var size: Int { byteCount }

  override func generate() throws {
    memory = malloc(byteCount)
    touch(memory!, byteCount)
  }

  override func free() {
    Glibc.free(memory)
    memory = nil
  }
}

/// Something that makes products within a budget and can let go of all.
protocol Churn {
  mutating func make(_ size: Int) throws
  /// Uses the product made `age` products before the newest, if it is still there.
  mutating func use(madeBefore age: Int) throws
  mutating func freeAll()
  /// Bytes of the products that are there.
  var live: Int { get }
}

/// Products as chunks, every second one on the heap if asked for.
struct ChunkChurn: Churn {
  private let pool: ChunkPool
  private let isMixed: Bool
  /// More than are ready at once, so that it is the pool that frees.
  private var chunks: [MemChunk?] = Array(repeating: nil, count: 512)
  private var count = 0

  init(budget: Int, isMixed: Bool = false, freesAhead: Bool = true, usesHugePages: Bool = false) {
    pool = ChunkPool(budget: .bytes(budget))
    pool.freesAhead = freesAhead
    pool.usesHugePages = usesHugePages
    self.isMixed = isMixed
  }

  var live: Int { pool.statistics.ready }

  mutating func make(_ size: Int) throws {
    let chunk: MemChunk
    if isMixed, count % 2 == 1 {
      chunk = HeapChunk(in: pool, size)
    } else {
      chunk = BufferChunk(in: pool, size: size) { bytes in
        bytes.withUnsafeMutableBytes { touch($0.baseAddress!, $0.count) }
      }
    }
    try chunk.ensureReady()
    chunks[count % chunks.count] = chunk
    count += 1
  }

  mutating func use(madeBefore age: Int) throws {
    guard age < count, let chunk = chunks[(count - 1 - age) % chunks.count], chunk.isReady else { return }
    try chunk.ensureReady()
  }

  mutating func freeAll() { pool.freeAll() }
}

/// The same with nothing but the C library: the products unused for longest go when the sum of sizes is above the budget.
struct HeapChurn: Churn {
  private struct Product {
    var memory: UnsafeMutableRawPointer
    var size: Int
    var older, newer: Int
  }

  private let budget: Int
  /// By the order in which they were made; the first stands for both ends of the order of use.
  private var products: [Product?] = [nil]
  private var oldest = 0, newest = 0
  private var sum = 0

  init(budget: Int) { self.budget = budget }

  var live: Int { sum }

  mutating func make(_ size: Int) {
    while sum + size > budget { freeOldest() }
    let memory = malloc(size)!
    touch(memory, size)
    products.append(Product(memory: memory, size: size, older: 0, newer: 0))
    append(products.count - 1)
    sum += size
  }

  mutating func use(madeBefore age: Int) {
    let number = products.count - 1 - age
    guard number > 0, products[number] != nil else { return }
    remove(number)
    append(number)
  }

  mutating func freeAll() {
    while oldest != 0 { freeOldest() }
  }

  private mutating func freeOldest() {
    let number = oldest
    remove(number)
    free(products[number]!.memory)
    sum -= products[number]!.size
    products[number] = nil
  }

  private mutating func append(_ number: Int) {
    products[number]!.older = newest
    products[number]!.newer = 0
    if newest == 0 { oldest = number } else { products[newest]!.newer = number }
    newest = number
  }

  private mutating func remove(_ number: Int) {
    let (older, newer) = (products[number]!.older, products[number]!.newer)
    if older == 0 { oldest = newer } else { products[older]!.newer = newer }
    if newer == 0 { newest = older } else { products[newer]!.older = older }
  }
}
