import MemChunks
import TestSupport
import Testing

/// Promise 6, where the waiting would be done by code that the pool itself runs: nobody can go on before that returns,
/// so nothing in it waits for others.
@Suite("No hang: code that the pool runs", .timeLimit(.hang))
struct NoHangUserCodeTests {
  private static func check(_ pool: ChunkPool, _ chunks: [TrackedChunk]) {
    pool.freeAll()
    #expect(pool.used == .bytes(0))
    #expect(pool._waiting == 0)
    pool._checkInvariants()
    for chunk in chunks { #expect(!chunk.hasProduct, "\(chunk.label)") }
  }

  @Test(
    "free() that wants room is refused at once, with a deadline or without", arguments: [nil, Duration.seconds(600)])
  func freeWantsRoom(limit: Duration?) async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let victim = TrackedChunk(in: pool, label: "victim", size: 8)
    let other = TrackedChunk(in: pool, label: "other", size: 8)
    let wanted = TrackedChunk(in: pool, label: "wanted", size: 8)
    let seen = Locked<Outcome?>(nil)
    victim.hooks.free = { _ in seen.set(outcome { try other.ensureReady(waitingUpTo: limit) }) }
    try await noHang { _ in
      try! victim.ensureReady()
      #expect(outcome { try wanted.ensureReady() } == .ready)
    }
    #expect(seen.current == .noRoom(.insideFree))
    Self.check(pool, [victim, other, wanted])
  }

  @Test("free() that wants what is generated elsewhere, or its own chunk, is refused")
  func freeWantsGeneration() async throws {
    let pool = ChunkPool(budget: .bytes(20))
    let victim = TrackedChunk(in: pool, label: "victim", size: 4)
    let slow = TrackedChunk(in: pool, label: "slow", size: 4)
    let isSlow = Gate()
    let seen = Locked<[Outcome]>([])
    slow.hooks.generate = { _ in isSlow.wait() }
    victim.hooks.free = { [unowned victim] _ in
      let outcomes = [outcome { try slow.ensureReady() }, outcome { try victim.ensureReady() }]
      seen.set(outcomes)
    }
    try await noHang(onThreads: 2) { index in
      if index == 0 { return try! slow.ensureReady() }
      isSlow.waitForArrivals()
      try! victim.ensureReady()
      victim.discard()
      isSlow.open()
    }
    #expect(seen.current == [.noRoom(.insideFree), .noRoom(.insideFree)])
    victim.hooks.free = nil
    Self.check(pool, [victim, slow])
  }

  @Test("free() at the limit on generations is refused, while the generation waits for that free")
  func freeAtTheLimit() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    pool.generationLimit = 1
    let victim = TrackedChunk(in: pool, label: "victim", size: 4)
    let outer = TrackedChunk(in: pool, label: "outer", size: 4)
    let inner = TrackedChunk(in: pool, label: "inner", size: 4)
    let wanted = TrackedChunk(in: pool, label: "wanted", size: 1)
    let isBegun = Gate()
    let isFreeing = Gate()
    let seen = Locked<Outcome?>(nil)
    outer.hooks.generate = { _ in
      isBegun.open()
      isFreeing.waitForArrivals()
      try inner.ensureReady()
    }
    victim.hooks.free = { _ in
      isFreeing.open()
      isFreeing.wait()
      seen.set(outcome { try wanted.ensureReady() })
    }
    try await victim.ensureReady()
    try await noHang(onThreads: 2) { index in
      if index == 0 {
        #expect(outcome { try outer.ensureReady() } == .ready)
      } else {
        isBegun.wait()
        victim.discard()
      }
    }
    #expect(seen.current == .noRoom(.insideFree))
    victim.hooks.free = nil
    Self.check(pool, [victim, outer, inner, wanted])
  }

  @Test("an observer that wants room, while its own thread has victims yet to free")
  func observerWantsRoom() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let first = TrackedChunk(in: pool, label: "first", size: 8)
    let second = TrackedChunk(in: pool, label: "second", size: 8)
    let seen = Locked(0)
    pool.observe { [unowned pool] event in
      switch event {
      case .pressure, .freed:
        let outcome = outcome { try second.ensureReady() }
        if outcome == .ready || outcome.isRefusal { seen.withLock { $0 += 1 } }
        #expect(pool.used <= .bytes(10))
      default: break
      }
    }
    try await noHang { _ in
      try! first.ensureReady()
      pool.report(.critical)
      pool.report(.normal)
      pool.freeAll()
    }
    #expect(seen.current > 0)
    pool.observe(nil)
    Self.check(pool, [first, second])
  }

  @Test("an observer that wants room in the middle of a request, beside a nested generation that waits")
  func observerInTheMiddle() async throws {
    let pool = ChunkPool(budget: .bytes(8))
    let victim = TrackedChunk(in: pool, label: "victim", size: 4)
    let plain = TrackedChunk(in: pool, label: "plain", size: 4)
    let outer = TrackedChunk(in: pool, label: "outer", size: 4)
    let inner = TrackedChunk(in: pool, label: "inner", size: 4)
    let extra = TrackedChunk(in: pool, label: "extra", size: 4)
    let isBegun = Gate()
    let isTold = Gate()
    outer.hooks.generate = { _ in
      isBegun.open()
      isTold.wait()
      try inner.ensureReady()
    }
    let seen = Locked<Outcome?>(nil)
    pool.observe { event in
      // The thread that makes "plain" has its room by now, and does not go on before this returns.
      guard case .freed("victim", _, _, _) = event else { return }
      isTold.open()
      _ = eventually { pool._waiting == 1 }
      seen.set(outcome { try extra.ensureReady() })
    }
    try await victim.ensureReady()
    try await noHang(onThreads: 2) { index in
      if index == 0 {
        let outcome = outcome { try outer.ensureReady() }
        #expect(outcome == .ready || outcome.isRefusal)
      } else {
        isBegun.wait()
        #expect(outcome { try plain.ensureReady() } == .ready)
      }
    }
    #expect(seen.current?.isRefusal == true)
    pool.observe(nil)
    Self.check(pool, [victim, plain, outer, inner, extra])
  }

  /// Uses the pool when it goes.
  private final class Farewell: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    deinit { body() }
  }

  /// A chunk of which something uses the pool when it goes.
  private final class Mortal: MemChunk, @unchecked Sendable {
    let farewell: Farewell
    init(in pool: ChunkPool, label: String, _ body: @escaping @Sendable () -> Void) {
      farewell = Farewell(body)
      super.init(in: pool, label: label)
    }
    override var size: Int { 4 }
  }

  /// A closure that holds the last reference to something whose deinit runs `body`.
  private static func holder<R: Sendable>(of body: @escaping @Sendable () -> Void, _ result: R) -> @Sendable () -> R {
    let farewell = Farewell(body)
    return { withExtendedLifetime(farewell) { result } }
  }

  private static func observer(_ farewell: Farewell) -> @Sendable (PoolEvent) -> Void {
    { _ in withExtendedLifetime(farewell) {} }
  }

  @Test("a product, a chunk, a recipe and an observer whose deinits use the pool")
  func deinits() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let other = TrackedChunk(in: pool, label: "other", size: 8)
    let seen = Locked<[Outcome]>([])
    let use: @Sendable () -> Void = {
      let outcome = outcome { try other.ensureReady() }
      seen.withLock { $0.append(outcome) }
      _ = pool.statistics
    }
    try await noHang { _ in
      // A product, freed to make room.
      let product = ValueChunk(in: pool, size: 8) { Farewell(use) }
      try! product.ensureReady()
      try! other.ensureReady()
      // A recipe, replaced and dropped.
      let recipe = ValueChunk(in: pool, size: 2, generate: Self.holder(of: use, 1))
      try! recipe.ensureReady()
      recipe.update(size: 2) { 2 }
      // A chunk that only the pool still holds while it frees it.
      let box = Locked<Mortal?>(Mortal(in: pool, label: "mortal", use))
      try! box.current!.ensureReady()
      try! TrackedChunk(in: pool, label: "dropper", size: 2).withReady {
        box.set(nil)
      }
      // An observer.
      pool.observe(Self.observer(Farewell(use)))
      pool.observe(nil)
      // What a bound group is woken with.
      let group = ChunkGroup(in: pool, label: "bound")
      group.bindToCurrentThread(wake: Self.holder(of: use, ()))
      group.bindToCurrentThread()
    }
    for outcome in seen.current { #expect(outcome == .ready || outcome.isRefusal, "\(outcome)") }
    #expect(seen.current.count >= 2)
    Self.check(pool, [other])
  }

  @Test("size asked after generating is part of generating: it does not wait for who waits for it")
  func sizeAfterGenerating() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let made = TrackedChunk(in: pool, label: "made", size: 4)
    let held = TrackedChunk(in: pool, label: "held", size: 4)
    let wanted = TrackedChunk(in: pool, label: "wanted", size: 6)
    let seen = Locked<Outcome?>(nil)
    let isHeld = Gate()
    let isSized = Locked(false)
    made.hooks.size = { [unowned made] _ in
      guard made.hasProduct,
        isSized.withLock({ sized in
          defer { sized = true }; return !sized
        })
      else { return }
      _ = eventually { pool._waiting == 1 }
      let outcome = outcome { try wanted.ensureReady() }
      seen.set(outcome)
    }
    try await noHang(onThreads: 2) { index in
      if index == 0 {
        isHeld.wait()
        #expect(outcome { try made.ensureReady() } == .ready)
      } else {
        try! held.withReady {
          isHeld.open()
          _ = eventually { isSized.current }
          #expect(outcome { try made.ensureReady() } == .ready)
        }
      }
    }
    #expect(seen.current == .noRoom(.holdsOthers))
    made.hooks.size = nil
    Self.check(pool, [made, held, wanted])
  }
}
