import MemChunks
import TestSupport
import Testing

/// A chunk that notes on which threads it was freed.
private final class Texture: TrackedChunk, @unchecked Sendable {
  let freedOn = Locked<[UInt]>([])

  init(in pool: ChunkPool, group: ChunkGroup, label: String = "texture", size: Int = 8) {
    super.init(in: pool, group: group, label: label, size: size)
    hooks.free = { [freedOn] _ in freedOn.withLock { $0.append(currentThread()) } }
  }

  override func detachProduct() -> (@Sendable () -> Void)? {
    let deallocate = detachMemory()
    return { [freedOn] in
      deallocate()
      freedOn.withLock { $0.append(currentThread()) }
    }
  }
}

/// Groups bound to a thread that ends before them, and groups that are taken over.
@Suite("The end of a bound thread", .timeLimit(.hang))
struct BoundThreadEndTests {
  /// A pool of 10 bytes with a texture of 8 in a group whose thread has ended. Its name may be another's by now.
  private static func stranded() -> (pool: ChunkPool, group: ChunkGroup, texture: Texture) {
    let pool = ChunkPool(budget: .bytes(10))
    let group = ChunkGroup(in: pool, label: "gl")
    let texture = Texture(in: pool, group: group)
    TestThread {
      group.bindToCurrentThread()
      try! texture.ensureReady()
    }.join()
    return (pool, group, texture)
  }

  @Test("A request that waits for what only that thread may free is refused when the thread ends, and names the group")
  func endsWhileOthersWait() async throws {
    for _ in 0..<20 {
      let pool = ChunkPool(budget: .bytes(10))
      let group = ChunkGroup(in: pool, label: "gl")
      let texture = Texture(in: pool, group: group)
      let wanted = pool.tracked("wanted", 5), async = pool.tracked("async", 5)
      let isBound = Gate(), ends = Gate()
      let task = Locked<Task<Outcome, Never>?>(nil)
      try await noHang(onThreads: 2) { index in
        if index == 0 {
          // A thread of its own, so that this test sees its end.
          let owner = TestThread {
            group.bindToCurrentThread()
            try! texture.ensureReady()
            isBound.open()
            ends.wait()
          }
          ends.waitForArrivals()
          _ = eventually { pool._waiting == 2 }
          ends.open()
          owner.join()
        } else {
          isBound.wait()
          task.set(Task { await outcome { () async throws in try await async.ensureReady() } })
          let numbers = refusal { try wanted.ensureReady() }
          #expect(numbers?.reason == .threadEnded && numbers?.strandedGroups == ["gl"])
          #expect(numbers?.freeing == 8 && numbers?.free == 2)
          #expect(numbers?.description.contains("group \"gl\" is bound to a thread that has ended") == true)
        }
      }
      let asyncEnd = await task.current?.value
      #expect(asyncEnd == .noRoom(.threadEnded))
      // Claimed for the request, queued, and not freed by anybody.
      #expect(texture.frees == 0 && group.totals.freeing == 8 && pool.used == .bytes(8) && pool._waiting == 0)
      pool._checkInvariants()
      group.bindToCurrentThread()
      #expect(texture.frees == 1 && pool.used == .bytes(0))
    }
  }

  @Test("After the end nothing of the group is claimed for others: it stays ready, and they are refused at once")
  func asksAfterwards() async throws {
    let (pool, group, texture) = Self.stranded()
    let wanted = pool.tracked("wanted", 5), small = pool.tracked("small", 2)
    try await noHang { _ in
      #expect(outcome { try wanted.ensureReady() } == .noRoom(.threadEnded))
      #expect(outcome { _ = try wanted.pin() } == .noRoom(.threadEnded))
      #expect(outcome { try wanted.ensureReady(waitingUpTo: .milliseconds(1)) } == .noRoom(.deadline))
      let inScope = try! small.withReady { refusal { try wanted.ensureReady() } }
      #expect(inScope?.reason == .holdsOthers && inScope?.strandedGroups == ["gl"])
    }
    try await noHangInTask {
      #expect(await outcome { () async throws in try await wanted.ensureReady() } == .noRoom(.threadEnded))
    }
    #expect(texture.isReady && texture.frees == 0)
    try blocking {
      // What lies beside it goes as ever.
      try pool.tracked("other", 2).ensureReady()
      #expect(!small.isReady)
      // It can still be used, and goes by nobody's hand.
      try texture.withReady { #expect(texture.isWhole) }
    }
    pool.freeAll()
    #expect(texture.frees == 0 && group.totals.freeing == 8 && pool.used == .bytes(8))
    // Its own place is taken until somebody takes over.
    #expect(refusal { try texture.ensureReady() }?.reason == .threadEnded)
    pool._checkInvariants()
    #expect(group.freeQueued() == 0 && texture.frees == 0)
    group.bindToCurrentThread()
    try blocking { try wanted.ensureReady() }
    #expect(texture.frees == 1)
    pool._checkInvariants()
  }

  @Test("A new thread that has the ended one's address frees nothing of it")
  func addressIsReused() throws {
    let (pool, group, texture) = Self.stranded()
    texture.discard()
    let wanted = pool.tracked("wanted", 1)
    // That one of them gets the address is likely, and not certain: threads of other tests may have it.
    for _ in 0..<300 {
      TestThread {
        precondition(group.freeQueued() == 0)
        try! wanted.ensureReady()
        wanted.discard()
      }.join()
    }
    #expect(texture.frees == 0 && pool.used == .bytes(8))
    group.bindToCurrentThread()
    #expect(texture.freedOn.current == [currentThread()] && pool.used == .bytes(0))
    pool._checkInvariants()
  }

  @Test("Who takes over frees what was queued, and serves those who wait with a deadline")
  func takeover() async throws {
    let (pool, group, texture) = Self.stranded()
    let freedOn = Locked<Locked<[UInt]>?>(nil)
    TestThread {
      // Its last reference goes here.
      let dropped = Texture(in: pool, group: group, label: "dropped", size: 1)
      try! dropped.ensureReady()
      freedOn.set(dropped.freedOn)
    }.join()
    texture.discard()
    let wanted = pool.tracked("wanted", 10)
    #expect(freedOn.current!.current.isEmpty && group.totals.freeing == 9)
    try await noHang(onThreads: 2) { index in
      if index == 0 {
        #expect(outcome { try wanted.ensureReady(waitingUpTo: .seconds(600)) } == .ready)
      } else {
        _ = eventually { pool._waiting == 1 }
        group.bindToCurrentThread()
        #expect(texture.freedOn.current == [currentThread()])
      }
    }
    #expect(freedOn.current!.current.count == 1 && texture.frees == 1 && pool.used == .bytes(10))
    pool._checkInvariants()
  }

  /// Keeps the compiler from choosing the suspending forms inside.
  private func blocking<R>(_ body: () throws -> R) rethrows -> R { try body() }

  @Test("Rebinding to another thread while others wait: it frees, they are served, the first one frees nothing more")
  func rebinding() async throws {
    for _ in 0..<20 {
      let pool = ChunkPool(budget: .bytes(10))
      let group = ChunkGroup(in: pool, label: "gl")
      let texture = Texture(in: pool, group: group)
      let wanted = pool.tracked("wanted", 5)
      let isBound = Gate(), isOver = Gate()
      let first = Locked<UInt>(0), second = Locked<UInt>(0)
      try await noHang(onThreads: 3) { index in
        switch index {
        case 0:
          first.set(currentThread())
          group.bindToCurrentThread()
          try! texture.ensureReady()
          isBound.open()
          isOver.wait()
          #expect(group.freeQueued() == 0)
        case 1:
          isBound.wait()
          #expect(outcome { try wanted.ensureReady() } == .ready)
          isOver.open()
        default:
          isBound.wait()
          second.set(currentThread())
          _ = eventually { pool._waiting == 1 }
          group.bindToCurrentThread()
        }
      }
      #expect(texture.freedOn.current == [second.current] && first.current != second.current)
      pool._checkInvariants()
    }
  }

  @Test("Limits and pressure pass a stranded group by, until somebody takes over")
  func limits() throws {
    let (pool, group, texture) = Self.stranded()
    let other = pool.tracked("other", 2)
    try other.ensureReady()
    pool.budget = .bytes(4)
    #expect(texture.isReady && !other.isReady && pool.statistics.overdraft == 4)
    pool.report(.critical)
    group.limit = .bytes(1)
    #expect(texture.isReady && pool.used == .bytes(8))
    pool._checkInvariants()
    group.bindToCurrentThread()
    #expect(!texture.isReady && texture.frees == 1 && pool.used == .bytes(0))
    pool._checkInvariants()
  }

  @Test("A thread that ends tells all pools it has bound groups in, also those that are closed, and forgets those gone")
  func severalPools() throws {
    var pools = (0..<4).map { _ in ChunkPool(budget: .bytes(10)) }
    var groups = pools.map { ChunkGroup(in: $0, label: "gl") }
    let textures = zip(pools, groups).map { Texture(in: $0, group: $1) }
    let ends = Gate(), isBound = Gate()
    let lent = Locked(groups)
    let thread = TestThread {
      for group in lent.current { group.bindToCurrentThread() }
      lent.set([])
      for texture in textures.prefix(3) { try! texture.ensureReady() }
      isBound.open()
      ends.wait()
    }
    isBound.wait()
    // One is closed while its texture is ready.
    pools.remove(at: 2)
    groups.remove(at: 3)
    pools.remove(at: 2)
    ends.open()
    thread.join()
    for pool in pools {
      #expect(refusal { try pool.tracked("wanted", 5).ensureReady() }?.reason == .threadEnded)
      pool._checkInvariants()
    }
    #expect(textures[2].frees == 0)
    for group in groups { group.bindToCurrentThread() }
    for pool in pools { try pool.tracked("wanted", 5).ensureReady() }
    #expect(textures.prefix(3).allSatisfy { $0.frees == 1 && $0.freedOn.current == [currentThread()] })
  }

  @Test("Threads that bind, use and end, one after the other and beside each other")
  func manyOwners() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let groups = (0..<2).map { ChunkGroup(in: pool, label: "\($0)") }
    let textures = groups.map { Texture(in: pool, group: $0, label: $0.label, size: 6) }
    let odd = Locked<[Outcome]>([])
    try await noHang(onThreads: 2) { owner in
      for _ in 0..<300 {
        TestThread {
          groups[owner].bindToCurrentThread()
          let end = outcome { try textures[owner].withReady { precondition(textures[owner].isWhole) } }
          if end != .ready, !end.isRefusal { odd.withLock { $0.append(end) } }
        }.join()
      }
    }
    #expect(odd.current.isEmpty, "\(odd.current.prefix(3))")
    for group in groups { group.bindToCurrentThread() }
    pool.freeAll()
    #expect(pool.used == .bytes(0) && textures.allSatisfy { $0.frees == $0.generations })
    pool._checkInvariants()
  }

  @Test("A group's limit, taken up by what nobody can free: refused at once, though something runs")
  func limitOfTheGroup() async throws {
    let pool = ChunkPool(budget: .bytes(100))
    let group = ChunkGroup(in: pool, label: "gl", limit: .bytes(10))
    let texture = Texture(in: pool, group: group, label: "texture", size: 8)
    let wanted = pool.tracked("wanted", 5, group: group), slow = pool.tracked("slow", 1)
    TestThread {
      group.bindToCurrentThread()
      try! texture.ensureReady()
    }.join()
    let isSlow = Gate()
    slow.hooks.generate = { _ in isSlow.wait() }
    let maker = TestThread { try! slow.ensureReady() }
    isSlow.waitForArrivals()
    try await noHang { _ in #expect(outcome { try wanted.ensureReady() } == .noRoom(.threadEnded)) }
    isSlow.open()
    maker.join()
    group.bindToCurrentThread()
    try blocking { try wanted.ensureReady() }
    #expect(texture.frees == 1)
  }
}
