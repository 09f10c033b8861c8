// An album that loads pages in tasks: waiting suspends, a page in use stays while its task does something else, and
// when the system is short of memory the pages that nobody looks at go.

import MemChunks

let pool = ChunkPool(budget: .megabytes(4))
let pages = (0..<8).map { number in
  BufferChunk(in: pool, label: "page \(number)", size: 1 << 20) { bytes in
    for offset in 0..<bytes.byteCount { bytes.storeBytes(of: UInt8(number), toByteOffset: offset, as: UInt8.self) }
  }
}

/// Adds up a page's bytes, and suspends while the page is generated or while there is no room.
func sum(of page: BufferChunk) async throws -> Int {
  try await page.withBytes { bytes in
    (0..<bytes.byteCount).reduce(0) { $0 + Int(bytes.unsafeLoad(fromByteOffset: $1, as: UInt8.self)) }
  }
}

// Eight tasks share room for four pages.
let total = try await withThrowingTaskGroup(of: Int.self) { tasks in
  for page in pages { tasks.addTask { try await sum(of: page) } }
  var total = 0
  for try await sum in tasks { total += sum }
  return total
}
print("the sum of all pages: \(total)")
precondition(total == (0..<8).reduce(0, +) << 20)

/// Looks at a page while memory gets short. The pin keeps the page across the `await`.
func lookAt(_ page: BufferChunk) async throws {
  let pin = try await page.pin()
  pool.report(.critical)  // as a source of pressure would
  await Task.yield()
  print("under pressure: \(pages.filter(\.isReady).count) page stays ready, the one that is in use")
  precondition(pin.withBytes { $0.byteCount } == 1 << 20 && pages.filter(\.isReady).count == 1)
  pin.unpin()
}
try await lookAt(pages[3])
precondition(!pages[3].isReady)
print("when nobody uses it, it goes too: \(pages.filter(\.isReady).count) pages are ready")
pool.report(.normal)
