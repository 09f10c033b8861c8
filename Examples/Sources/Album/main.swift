// An album that loads pages in tasks: waiting suspends, a page in use stays while its task does something else, and
// when the system is short of memory the pages that nobody looks at go.

import MemChunks

let pool = ChunkPool(budget: .megabytes(4))
let pages = (0..<8).map { number in
  BufferChunk(in: pool, size: 1 << 20, label: "page \(number)") { bytes in
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
  return try await tasks.reduce(0, +)
}
print("the sum of all pages: \(total)")
precondition(total == (0..<8).reduce(0, +) << 20)

// A pin keeps a page across other work, also when memory is short.
let pin = try await pages[3].pin()
pool.pressure = .critical
print("under pressure: \(pages.filter(\.isReady).count) page stays ready, the one that is in use")
precondition(pages[3].isReady)
_ = consume pin
pool.pressure = .normal
print("when nobody uses it: \(pages.filter(\.isReady).count) pages are ready")
