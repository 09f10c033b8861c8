import MemChunks
import TestSupport
import Testing

/// What the C library keeps after a large drop is given back once, and not by whoever caused the drop.
@Suite("Trimming the heap", .timeLimit(.hang))
struct HeapTrimTests {
  @Test("It is done on a thread of the pool's: who frees does not wait for it")
  func offTheCallersPath() throws {
    let pool = ChunkPool(budget: .megabytes(8))
    let threads = Locked<[UInt]>([])
    let door = Gate()
    pool.replaceHeapTrim {
      threads.withLock { $0.append(currentThread()) }
      door.wait()
    }
    let chunks = (0..<2).map { TrackedChunk(in: pool, label: "\($0)", size: 1 << 20) }
    for chunk in chunks { try chunk.ensureReady() }
    pool.freeAll()
    // It returned though the door is closed: the trimming is going on, or is yet to begin.
    #expect(chunks.allSatisfy { !$0.isReady })
    door.waitForArrivals()
    #expect(threads.current.count == 1 && threads.current.first != currentThread())
    // The pool works meanwhile.
    try chunks[0].ensureReady()
    #expect(chunks[0].isReady)
    door.open()
    keep(chunks)
  }

  @Test("Once for a large drop, and not for a small one")
  func once() throws {
    let pool = ChunkPool(budget: .megabytes(8))
    let trims = Gate()
    let count = Locked(0)
    pool.replaceHeapTrim {
      count.withLock { $0 += 1 }
      trims.wait()
    }
    trims.open()
    let small = TrackedChunk(in: pool, label: "small", size: 1_000)
    let large = TrackedChunk(in: pool, label: "large", size: 2 << 20)
    try small.ensureReady()
    pool.freeAll()
    try large.ensureReady()
    pool.freeAll()
    trims.waitForArrivals()
    // Nothing was freed since.
    pool.freeAll()
    try small.ensureReady()
    pool.freeAll()
    try large.ensureReady()
    pool.freeAll()
    trims.waitForArrivals(2)
    #expect(count.current == 2)
    keep([small, large])
  }
}
