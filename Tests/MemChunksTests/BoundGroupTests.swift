import MemChunks
import TestSupport
import Testing

/// A chunk that must be freed on one thread, and says how when it is gone itself.
private final class Texture: TrackedChunk, @unchecked Sendable {
  /// The number of a texture that lives outside the chunk, and the threads on which such were let go.
  let released = Locked<[UInt]>([])
  let detaches: Bool

  init(in pool: ChunkPool, group: ChunkGroup, label: String, size: Int, detaches: Bool = true) {
    self.detaches = detaches
    super.init(in: pool, group: group, label: label, size: size)
    let released = released
    hooks.free = { _ in released.withLock { $0.append(threadName()) } }
  }

  override func detachProduct() -> (@Sendable () -> Void)? {
    guard detaches else { return nil }
    let released = released
    let deallocate = detachMemory()
    return {
      deallocate()
      released.withLock { $0.append(threadName()) }
    }
  }
}

/// Tells threads apart while they live.
private func threadName() -> UInt { currentThread() }

@Suite("Groups that are bound to a thread")
struct BoundGroupTests {
  @Test("Freeing from elsewhere only queues: wake is called, bytes count until the bound thread frees them")
  func queuedFrees() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let group = ChunkGroup(in: pool, label: "gl")
    let wakes = Locked(0)
    let home = threadName()
    group.bindToCurrentThread { wakes.withLock { $0 += 1 } }
    let chunks = (0..<3).map { Texture(in: pool, group: group, label: "t\($0)", size: 3) }
    for chunk in chunks { try chunk.ensureReady() }
    // On the bound thread itself it is freed at once.
    chunks[0].discard()
    #expect(pool.used.bytes == 6 && wakes.current == 0)
    TestThread {
      chunks[1].discard()
      pool.freeAll()
    }.join()
    #expect(wakes.current == 2 && !chunks[1].isReady && !chunks[2].isReady)
    #expect(chunks[1].frees == 0 && pool.used.bytes == 6 && group.totals.freeing == 6)
    pool._checkInvariants()
    #expect(group.freeQueued() == 2 && group.freeQueued() == 0)
    #expect(pool.used.bytes == 0 && chunks.allSatisfy { $0.frees == 1 && $0.released.current == [home] })
    pool._checkInvariants()
  }

  @Test("The bound thread frees what was queued whenever it misses")
  func missFreesQueued() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let group = ChunkGroup(in: pool, label: "gl")
    group.bindToCurrentThread()
    let texture = Texture(in: pool, group: group, label: "t", size: 8)
    try texture.ensureReady()
    TestThread { texture.discard() }.join()
    #expect(pool.used.bytes == 8)
    let other = pool.tracked("other", 9)
    try other.ensureReady()
    #expect(texture.frees == 1 && pool.used.bytes == 9)
    // In the middle of a scope too: nothing is waited for.
    try other.withReady { try pool.tracked("one", 1).ensureReady() }
    pool._checkInvariants()
  }

  @Test(
    "A request elsewhere waits until the bound thread has freed; a thread that sleeps in a request gets up to do so")
  func waitingForTheBoundThread() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let group = ChunkGroup(in: pool, label: "gl")
    let texture = Texture(in: pool, group: group, label: "t", size: 8)
    let slow = pool.tracked("slow", 1), wanted = pool.tracked("wanted", 5)
    let gate = Gate()
    slow.hooks.generate = { _ in gate.wait() }
    let generator = TestThread { try! slow.ensureReady() }
    gate.waitForArrivals()
    let ready = Gate()
    let home = TestThread {
      group.bindToCurrentThread()
      try! texture.ensureReady()
      ready.open()
      // Sleeps in the generation that the other thread runs.
      try! slow.ensureReady()
    }
    ready.wait()
    // Needs the texture's room: only the sleeping thread can free it.
    let requester = TestThread { try! wanted.ensureReady() }
    requester.join()
    #expect(wanted.isReady && texture.frees == 1)
    gate.open()
    home.join()
    generator.join()
    pool._checkInvariants()
  }

  @Test("Inside a scope a request elsewhere does not wait for the bound thread, and takes nothing of its chunks")
  func noWaitInScope() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let group = ChunkGroup(in: pool, label: "gl")
    group.bindToCurrentThread()
    let texture = Texture(in: pool, group: group, label: "t", size: 6)
    try texture.ensureReady()
    TestThread {
      let held = pool.tracked("held", 2), wanted = pool.tracked("wanted", 5)
      try! held.withReady {
        #expect(refusal { try wanted.ensureReady() }?.reason == .holdsOthers)
      }
    }.join()
    #expect(texture.isReady && texture.frees == 0)
    pool._checkInvariants()
  }

  @Test("The last reference goes elsewhere: the detached product waits for the bound thread, counted")
  func detached() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let group = ChunkGroup(in: pool, label: "gl")
    let wakes = Locked(0)
    group.bindToCurrentThread { wakes.withLock { $0 += 1 } }
    let box = Locked<Texture?>(Texture(in: pool, group: group, label: "t", size: 6))
    let released = box.current!.released
    box.current!.hooks = .init()
    try box.current!.ensureReady()
    TestThread { box.set(nil) }.join()
    #expect(wakes.current == 1 && released.current.isEmpty && pool.used.bytes == 6 && group.totals.freeing == 6)
    #expect(pool.statistics.chunks == 0)
    pool._checkInvariants()
    #expect(group.freeQueued() == 1)
    #expect(released.current == [threadName()] && pool.used.bytes == 0)
    pool._checkInvariants()
  }

  @Test("The last reference goes elsewhere and nothing can be detached, or goes at home: freed at once")
  func notDetached() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let group = ChunkGroup(in: pool, label: "gl")
    group.bindToCurrentThread()
    let box = Locked<Texture?>(Texture(in: pool, group: group, label: "t", size: 6, detaches: false))
    let released = box.current!.released
    try box.current!.ensureReady()
    TestThread { box.set(nil) }.join()
    #expect(released.current.count == 1 && pool.used.bytes == 0)
    var atHome: Texture? = Texture(in: pool, group: group, label: "t", size: 6)
    let freedAtHome = atHome!.released
    try atHome!.ensureReady()
    atHome = nil
    #expect(freedAtHome.current == [threadName()] && pool.used.bytes == 0 && group.freeQueued() == 0)
    pool._checkInvariants()
  }
}
