import MemChunks
import TestSupport
import Testing

/// Promise 6 where what would end a wait is itself in the middle of a step of the pool's, or waits for a thread.
@Suite("No hang: ends that need a thread", .timeLimit(.hang))
struct NoHangServedTests {
  /// Its `detachProduct()` uses the pool.
  private final class Detaching: TrackedChunk, @unchecked Sendable {
    let other: TrackedChunk
    let result: Locked<Outcome?>

    init(in pool: ChunkPool, group: ChunkGroup, size: Int, other: TrackedChunk, result: Locked<Outcome?>) {
      (self.other, self.result) = (other, result)
      super.init(in: pool, group: group, label: "detaching", size: size)
    }

    override func detachProduct() -> (@Sendable () -> Void)? {
      result.set(outcome { try other.ensureReady() })
      return detachMemory()
    }
  }

  @Test("the last reference to a bound chunk goes: its detachProduct() is refused the room that it holds itself")
  func detachProduct() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let other = pool.tracked("other", 5)
    let result = Locked(Outcome?.none)
    try await noHang { _ in
      let group = ChunkGroup(in: pool, label: "bound")
      group.bindToCurrentThread()
      let box = Locked([Detaching(in: pool, group: group, size: 10, other: other, result: result)])
      try! box.current[0].ensureReady()
      TestThread { box.set([]) }.join()
      group.freeQueued()
    }
    #expect(result.current == .noRoom(.insideFree))
    checkNothingIsLeft(of: pool)
  }

  @Test("the pool is closed while all its threads are busy: what waits for a thread ends at once")
  func closedWithoutThread() async throws {
    let box = Locked([ChunkPool(budget: .bytes(1_000))])
    let (slow, wanted, ahead) = box.withLock { pools in
      let pool = pools[0]
      return (pool.tracked(ChunkPool._mostThreads, of: 1, "s"), pool.tracked("wanted", 1), pool.tracked("ahead", 1))
    }
    let isSlow = Gate()
    for chunk in slow { chunk.hooks.generate = { _ in isSlow.wait() } }
    let ended = Locked(0)
    let tasks = slow.map { chunk in
      Task {
        let outcome = await outcome { () async throws in try await chunk.ensureReady() }
        ended.withLock { $0 += 1 }
        return outcome
      }
    }
    while box.withLock({ $0[0].statistics.reserved }) < slow.count { await Task.yield() }
    isSlow.waitForArrivals(2)
    let task = Task { await outcome { () async throws in try await wanted.ensureReady() } }
    while box.withLock({ $0[0]._waiting }) == 0 { await Task.yield() }
    // It needs a thread to be asked for its size again.
    wanted.invalidate()
    let prefetch = box.withLock { $0[0].prefetch([ahead]) }
    try await noHangInTask {
      box.set([])
      #expect(await task.value == .closed(afterFork: false))
      #expect(await prefetch.readied.isEmpty)
      while ended.current < slow.filter({ $0.generations == 0 }).count { await Task.yield() }
    }
    isSlow.open()
    for task in tasks { #expect(await task.value == .closed(afterFork: false)) }
    #expect(wanted.generations == 0 && ahead.generations == 0)
    #expect(slow.allSatisfy { $0.generations == $0.frees })
  }
}
