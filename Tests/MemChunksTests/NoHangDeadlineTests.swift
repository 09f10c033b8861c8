import MemChunks
import TestSupport
import Testing

/// Promise 6: every wait can have a deadline, whatever it is for and however it was asked.
@Suite("No hang: deadlines", .timeLimit(.hang))
struct NoHangDeadlineTests {
  /// What stands in the way.
  enum Obstacle: String, CaseIterable {
    case pin, scope, frameToken, frame, generation, generationLimit, reservation, lateFree, boundGroup, oldProduct
  }

  /// A pool in which "wanted" cannot be had as long as `hold` runs its body.
  private final class Scene: Sendable {
    let pool = ChunkPool(budget: .bytes(10))
    let holder: TrackedChunk
    let wanted: TrackedChunk
    let group: ChunkGroup

    init(_ obstacle: Obstacle) {
      group = ChunkGroup(in: pool, label: "group")
      holder = TrackedChunk(in: pool, group: obstacle == .boundGroup ? group : nil, label: "holder", size: 6)
      wanted = TrackedChunk(in: pool, label: "wanted", size: 6)
    }

    /// Runs `body` on another thread while the obstacle stands.
    func hold(_ obstacle: Obstacle, _ body: @escaping @Sendable () -> Void) throws {
      let stands = Gate()
      let thread = TestThread {
        stands.wait()
        body()
      }
      // From here on the other thread is waited for, so its end must not depend on the obstacle's.
      switch obstacle {
      case .pin:
        let pin = try holder.pin()
        stands.open()
        thread.join()
        pin.unpin()
      case .scope:
        try holder.withReady {
          stands.open()
          thread.join()
        }
      case .frameToken:
        let frame = pool.beginFrame()
        try holder.ensureReady()
        stands.open()
        thread.join()
        frame.end()
      case .frame:
        try pool.frame {
          try holder.ensureReady()
          stands.open()
          thread.join()
        }
      case .generation:
        wanted.hooks.generate = { _ in
          stands.open()
          thread.join()
        }
        try wanted.ensureReady()
      case .generationLimit, .reservation:
        if obstacle == .generationLimit {
          pool.generationLimit = 1
          holder.declaredSize = 1
        }
        holder.hooks.generate = { _ in
          stands.open()
          thread.join()
        }
        try holder.ensureReady()
      case .lateFree:
        let late = Locked<LateFree?>(nil)
        holder.hooks.free = { chunk in late.set(chunk.deferFree()) }
        try holder.ensureReady()
        holder.discard()
        stands.open()
        thread.join()
        late.current!.finish()
        holder.hooks.free = nil
      case .boundGroup:
        group.bindToCurrentThread()
        try holder.ensureReady()
        stands.open()
        thread.join()
        group.freeQueued()
      case .oldProduct:
        try wanted.withReady {
          wanted.invalidate()
          stands.open()
          thread.join()
        }
      }
    }
  }

  @Test("a thread that asks in each way, for each obstacle", arguments: Obstacle.allCases)
  func threads(obstacle: Obstacle) async throws {
    let uses: [@Sendable (Scene, Duration) throws -> Void] = [
      { try $0.wanted.ensureReady(waitingUpTo: $1) }, { try $0.wanted.withReady(waitingUpTo: $1) {} },
      { _ = try $0.wanted.pin(waitingUpTo: $1) }, { try $0.pool.withReady([$0.wanted], waitingUpTo: $1) {} },
      { _ = try $0.pool.pin([$0.wanted], waitingUpTo: $1) },
    ]
    for use in uses {
      for limit in [Duration.zero, .milliseconds(2), .seconds(-1)] {
        let ending = Locked<Outcome?>(nil)
        let scene = Scene(obstacle)
        try await noHang { _ in
          try! scene.hold(obstacle) {
            let outcome = outcome { try use(scene, limit) }
            ending.set(outcome)
          }
          // The obstacle is gone, and nothing is left of the wait.
          precondition(scene.pool._waiting == 0)
          precondition(outcome { try scene.wanted.ensureReady() } == .ready)
          // Bound chunks go on their own thread.
          scene.pool.freeAll()
        }
        #expect(ending.current == Self.expected(obstacle))
        checkNothingIsLeft(of: scene.pool)
      }
    }
  }

  @Test("a task that asks, for each obstacle", arguments: Obstacle.allCases)
  func tasks(obstacle: Obstacle) async throws {
    let scene = Scene(obstacle)
    let ending = Locked<Outcome?>(nil)
    let isAsked = Gate()
    let isOver = Gate()
    let asking = Task {
      // Holding a thread of the tasks' own until the obstacle stands would be wrong; looking now and then is not.
      while !isAsked.isOpened { await Task.yield() }
      ending.set(await outcome { try await scene.wanted.withReady(waitingUpTo: .milliseconds(2)) {} })
      isOver.open()
    }
    try await noHang { _ in
      try! scene.hold(obstacle) {
        isAsked.open()
        isOver.wait()
      }
      scene.pool.freeAll()
    }
    await asking.value
    #expect(ending.current == Self.expected(obstacle))
    checkNothingIsLeft(of: scene.pool)
  }

  private static func expected(_ obstacle: Obstacle) -> Outcome {
    switch obstacle {
    case .generation: .cancelled(atDeadline: true)
    default: .noRoom(.deadline)
    }
  }
}
