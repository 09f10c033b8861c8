import MemChunks
import TestSupport
import Testing

/// Promise 4 and 6 where a request already waits, but its thread still runs what the same step left to be done: frees and
/// last releases, whose code may make chunks that the request waits for.
@Suite("No hang: between asking and sleeping", .timeLimit(.hang))
struct NoHangAftermathTests {
  /// Uses the pool when its last reference goes.
  private final class Last: TrackedChunk, @unchecked Sendable {
    let farewell = Locked<(@Sendable () -> Void)?>(nil)
    deinit { farewell.current?() }
  }

  /// A pool of 10 with a victim of 6, whose bytes come late and whose last reference the pool lets go of: so whoever
  /// wants its room finds none after all, waits, and runs the victim's deinit before it sleeps.
  private final class Scene: Sendable {
    let pool = ChunkPool(budget: .bytes(10))
    let late = Locked<LateFree?>(nil)
    /// Runs inside the victim's `free()`, when the request for its room has been granted.
    let inFree = Locked<(@Sendable () -> Void)?>(nil)
    private let victim: Locked<Last?>

    init(farewell: @escaping @Sendable () -> Void) {
      let victim = Locked<Last?>(Last(in: pool, label: "victim", size: 6))
      self.victim = victim
      let late = late, inFree = inFree
      victim.current!.farewell.set(farewell)
      victim.current!.hooks.free = { chunk in
        inFree.current?()
        late.set(chunk.deferFree())
        victim.set(nil)
      }
    }

    func begin() { try! victim.current!.ensureReady() }

    func finish() {
      late.current!.finish()
      late.set(nil)
    }
  }

  @Test("what the thread itself makes meanwhile is made once, and waited for", arguments: [false, true])
  func ownThread(isServedWhileGenerating: Bool) async throws {
    let use = Locked<(@Sendable () -> Void)?>(nil)
    let scene = Scene { use.current?() }
    let first = TrackedChunk(in: scene.pool, label: "first", size: 4)
    let second = TrackedChunk(in: scene.pool, label: "second", size: 4)
    use.set { #expect(outcome { try first.ensureReady() } == .ready) }
    if isServedWhileGenerating {
      first.hooks.generate = { _ in
        // Another thread looks at all who wait, while this one generates what one of them wants.
        TestThread { scene.pool.budget = .bytes(10) }.join()
      }
    }
    try await noHang(onThreads: 2) { index in
      if index == 0 {
        scene.begin()
        let outcome = outcome {
          try scene.pool.withReady([first, second]) { precondition(first.isWhole && second.isWhole) }
        }
        #expect(outcome == .ready)
      } else {
        _ = eventually { first.isReady && scene.pool._waiting == 1 }
        scene.finish()
      }
    }
    #expect(first.generations == 1 && second.generations == 1)
    use.set(nil)
    checkNothingIsLeft(of: scene.pool)
  }

  @Test("a thread that is not asleep yet closes no ring")
  func noRing() async throws {
    let use = Locked<(@Sendable () -> Void)?>(nil)
    let scene = Scene { use.current?() }
    let shared = TrackedChunk(in: scene.pool, label: "shared", size: 4)
    let other = TrackedChunk(in: scene.pool, label: "other", size: 4)
    let inner = TrackedChunk(in: scene.pool, label: "inner", size: 0)
    let isAsked = Gate()
    let isInner = Gate()
    // The second thread takes over "shared" when the first has no room for it, and needs "inner" for it. That is made
    // by the first thread, which waits for "shared" by then - but makes "inner" before it sleeps.
    shared.hooks.generate = { _ in
      isInner.wait()
      try inner.ensureReady()
    }
    inner.hooks.generate = { _ in
      isInner.open()
      _ = eventually { scene.pool._waiting == 2 }
    }
    scene.inFree.set {
      isAsked.open()
      _ = eventually { scene.pool._waiting == 1 }
    }
    use.set { #expect(outcome { try inner.ensureReady() } == .ready) }
    let outcomes = Locked<[Outcome]>([])
    try await noHang(onThreads: 3) { index in
      switch index {
      case 0:
        scene.begin()
        let outcome = outcome { try scene.pool.withReady([shared, other]) {} }
        outcomes.withLock { $0.append(outcome) }
      case 1:
        isAsked.wait()
        let outcome = outcome { try shared.ensureReady() }
        outcomes.withLock { $0.append(outcome) }
      default:
        _ = eventually { shared.isReady }
        scene.finish()
      }
    }
    #expect(outcomes.current == [.ready, .ready])
    #expect(shared.generations == 1 && inner.generations == 1 && other.generations == 1)
    use.set(nil)
    scene.inFree.set(nil)
    checkNothingIsLeft(of: scene.pool)
  }
}
