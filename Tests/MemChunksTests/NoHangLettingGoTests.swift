import MemChunks
import TestSupport
import Testing

/// Promise 6 where a request lets go of what it did not come to use, or needs less than before: whoever waits for just
/// that is served, though nothing else ever happens in the pool.
@Suite("No hang: what was held for nobody", .timeLimit(.hang))
struct NoHangLettingGoTests {
  @Test("a task is cancelled while its chunk is made: the product goes for who waits for its room")
  func cancelled() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let given = pool.tracked("given up", 10), wanted = pool.tracked("wanted", 10)
    let isSlow = Gate()
    given.hooks.generate = { _ in isSlow.wait() }
    let task = Task { await outcome { try await given.withReady {} } }
    while given.generations == 0 { await Task.yield() }
    try await noHang(onThreads: 2) { index in
      if index == 0 { return #expect(outcome { try wanted.ensureReady() } == .ready) }
      _ = eventually { pool._waiting == 1 }
      task.cancel()
      _ = eventually { !given.isWanted }
      isSlow.open()
    }
    #expect(await task.value == .cancelled(atDeadline: false))
    #expect(given.frees == 1)
    checkNothingIsLeft(of: pool)
  }

  @Test("the second of several fails: the first goes for who waits for its room")
  func secondFails() async throws {
    let pool = ChunkPool(budget: .bytes(11))
    let first = pool.tracked("first", 10), second = pool.tracked("second", 1), wanted = pool.tracked("wanted", 10)
    let isSlow = Gate()
    second.hooks.generate = { _ in
      isSlow.wait()
      throw Mishap()
    }
    try await noHang(onThreads: 2) { index in
      if index == 0 { return #expect(outcome { try pool.withReady([first, second]) {} } != .ready) }
      isSlow.waitForArrivals()
      let opener = TestThread {
        _ = eventually { pool._waiting == 1 }
        isSlow.open()
      }
      #expect(outcome { try wanted.ensureReady() } == .ready)
      opener.join()
    }
    #expect(first.frees == 1)
    checkNothingIsLeft(of: pool)
  }

  @Test("what is waited for becomes smaller, and fits", arguments: [false, true])
  func shrinks(byTask: Bool) async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let held = pool.tracked("held", 6), wanted = pool.tracked("wanted", 8)
    let pin = try HeldPin(held)
    let change = TestThread {
      _ = eventually { pool._waiting == 1 }
      wanted.declaredSize = 2
      wanted.invalidate()
    }
    let limit = Duration.seconds(100_000)
    if byTask {
      try await noHangInTask {
        #expect(await outcome { () async throws in try await wanted.ensureReady(waitingUpTo: limit) } == .ready)
      }
    } else {
      try await noHang { _ in #expect(outcome { try wanted.ensureReady(waitingUpTo: limit) } == .ready) }
    }
    change.join()
    withExtendedLifetime(pin) {}
    #expect(held.isReady && wanted.isReady)
  }
}
