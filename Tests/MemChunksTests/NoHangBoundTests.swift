import MemChunks
import TestSupport
import Testing

/// Promise 6 and case 7 of it: chunks that only their own thread may free.
@Suite("No hang: bound groups", .timeLimit(.hang))
struct NoHangBoundTests {
  private static func check(_ pool: ChunkPool, _ chunks: [TrackedChunk]) {
    #expect(pool.used == .bytes(0))
    #expect(pool._waiting == 0)
    pool._checkInvariants()
    for chunk in chunks { #expect(!chunk.hasProduct, "\(chunk.label)") }
  }

  @Test("the owner sleeps in a request of its own: it gets up to free what the other wants")
  func sleepingOwner() async throws {
    for _ in 0..<50 {
      let pool = ChunkPool(budget: .bytes(10))
      let group = ChunkGroup(in: pool, label: "bound")
      let bound = TrackedChunk(in: pool, group: group, label: "bound", size: 6)
      let slow = TrackedChunk(in: pool, label: "slow", size: 2)
      let wanted = TrackedChunk(in: pool, label: "wanted", size: 8)
      let isBound = Gate()
      let isSlow = Gate()
      slow.hooks.generate = { _ in
        isSlow.wait()
        _ = eventually { bound.frees == 1 }
      }
      try await noHang(onThreads: 3) { index in
        switch index {
        case 0:
          group.bindToCurrentThread()
          try! bound.ensureReady()
          isBound.open()
          isSlow.waitForArrivals()
          // Joins what another makes, and is woken in it.
          #expect(outcome { try slow.ensureReady() } == .ready)
        case 1:
          isBound.wait()
          #expect(outcome { try slow.ensureReady() } == .ready)
        default:
          isSlow.waitForArrivals()
          _ = eventually { pool._waiting == 1 }
          isSlow.open()
          #expect(outcome { try wanted.ensureReady() } == .ready)
        }
      }
      pool.freeAll()
      Self.check(pool, [bound, slow, wanted])
    }
  }

  @Test("the owner sleeps elsewhere: it is told, and frees when it has time")
  func toldOwner() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let group = ChunkGroup(in: pool, label: "bound")
    let bound = TrackedChunk(in: pool, group: group, label: "bound", size: 6)
    let wanted = TrackedChunk(in: pool, label: "wanted", size: 8)
    let isTold = Gate()
    let isBound = Gate()
    try await noHang(onThreads: 2) { index in
      if index == 0 {
        group.bindToCurrentThread { isTold.open() }
        try! bound.ensureReady()
        isBound.open()
        isTold.wait()
        #expect(bound.frees == 0)
        #expect(pool.used <= .bytes(10))
        #expect(group.freeQueued() == 1)
      } else {
        isBound.wait()
        #expect(outcome { try wanted.ensureReady() } == .ready)
      }
    }
    pool.freeAll()
    Self.check(pool, [bound, wanted])
  }

  @Test("who must not wait does not have bound chunks freed: in a scope, a generation, a free")
  func mustNotWait() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let group = ChunkGroup(in: pool, label: "bound")
    let bound = TrackedChunk(in: pool, group: group, label: "bound", size: 6)
    let held = TrackedChunk(in: pool, label: "held", size: 2)
    let wanted = TrackedChunk(in: pool, label: "wanted", size: 6)
    let isBound = Gate()
    let isOver = Gate()
    try await noHang(onThreads: 2) { index in
      if index == 0 {
        group.bindToCurrentThread()
        try! bound.ensureReady()
        isBound.open()
        isOver.wait()
        #expect(bound.isReady)
        pool.freeAll()
      } else {
        isBound.wait()
        try! held.withReady { #expect(outcome { try wanted.ensureReady() } == .noRoom(.holdsOthers)) }
        pool.frame { #expect(outcome { try wanted.ensureReady() } == .noRoom(.holdsOthers)) }
        held.hooks.generate = { _ in try wanted.ensureReady() }
        held.discard()
        #expect(outcome { try held.ensureReady() } == .failed(.noRoom(.holdsOthers)))
        held.hooks.generate = nil
        held.hooks.free = { _ in #expect(outcome { try wanted.ensureReady() } == .noRoom(.insideFree)) }
        try! held.ensureReady()
        held.discard()
        held.hooks.free = nil
        isOver.open()
      }
    }
    Self.check(pool, [bound, held, wanted])
  }

  /// A bound chunk whose product can be let go of without the chunk.
  private final class Detachable: MemChunk, @unchecked Sendable {
    let frees: ByteTally
    let others: TrackedChunk

    init(in pool: ChunkPool, group: ChunkGroup, frees: ByteTally, others: TrackedChunk) {
      self.frees = frees
      self.others = others
      super.init(in: pool, group: group, label: "detachable")
    }

    override var size: Int { 6 }
    override func free() { frees.add(1) }
    override func detachProduct() -> (@Sendable () -> Void)? {
      { [frees, others] in
        // Runs as a free: it may use the pool, but not wait.
        #expect(outcome { try others.ensureReady() } == .noRoom(.insideFree))
        frees.add(1)
      }
    }
  }

  @Test("a bound chunk whose last reference goes elsewhere is freed by its thread, once")
  func detached() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let group = ChunkGroup(in: pool, label: "bound")
    let frees = ByteTally()
    let others = TrackedChunk(in: pool, label: "others", size: 8)
    let box = Locked<Detachable?>(Detachable(in: pool, group: group, frees: frees, others: others))
    let isReady = Gate()
    let isDropped = Gate()
    try await noHang(onThreads: 2) { index in
      if index == 0 {
        group.bindToCurrentThread()
        try! box.current!.ensureReady()
        isReady.open()
        isDropped.wait()
        #expect(pool.used == .bytes(6))
        #expect(frees.bytes == 0)
        #expect(group.freeQueued() == 1)
        #expect(frees.bytes == 1)
      } else {
        isReady.wait()
        box.set(nil)
        isDropped.open()
      }
    }
    Self.check(pool, [others])
  }

  @Test("two groups bound to two threads that want each other's room, many rounds")
  func twoOwners() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let groups = (0..<2).map { ChunkGroup(in: pool, label: "bound \($0)") }
    let chunks = (0..<2).map { owner in
      (0..<2).map { TrackedChunk(in: pool, group: groups[owner], label: "\(owner).\($0)", size: 5) }
    }
    let odd = Locked<[Outcome]>([])
    let isDone = [Locked(false), Locked(false)]
    try await noHang(onThreads: 2) { owner in
      groups[owner].bindToCurrentThread()
      for round in 0..<2_000 {
        let chunk = chunks[owner][round % 2]
        let outcome = outcome { try chunk.withReady { precondition(chunk.isWhole) } }
        if outcome != .ready, !outcome.isRefusal { odd.withLock { $0.append(outcome) } }
      }
      // A run loop would go on freeing what is queued; so does this, until the other needs nothing any more.
      isDone[owner].set(true)
      while !isDone[1 - owner].current { groups[owner].freeQueued() }
      for chunk in chunks[owner] { chunk.discard() }
      groups[owner].freeQueued()
    }
    #expect(odd.current.isEmpty, "\(odd.current.prefix(3))")
    Self.check(pool, chunks.flatMap { $0 })
  }
}
