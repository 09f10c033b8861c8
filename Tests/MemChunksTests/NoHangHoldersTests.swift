import MemChunks
import TestSupport
import Testing

/// Promise 6: waiting for what scopes, frames, tokens and late frees hold.
@Suite("No hang: holders of room", .timeLimit(.hang))
struct NoHangHoldersTests {
  private static func check(_ pool: ChunkPool, _ chunks: [TrackedChunk]) {
    pool.freeAll()
    #expect(pool.used == .bytes(0))
    #expect(pool._waiting == 0)
    pool._checkInvariants()
    for chunk in chunks { #expect(!chunk.hasProduct, "\(chunk.label)") }
  }

  @Test("a frame of another thread is waited for; inside it nobody waits")
  func frames() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let drawn = TrackedChunk(in: pool, label: "drawn", size: 6)
    let wanted = TrackedChunk(in: pool, label: "wanted", size: 6)
    let isOpen = Gate()
    try await noHang(onThreads: 2) { index in
      if index == 0 {
        pool.frame {
          #expect(outcome { try drawn.ensureReady() } == .ready)
          isOpen.open()
          _ = eventually { pool._waiting == 1 }
          #expect(outcome { try wanted.ensureReady() } == .noRoom(.holdsOthers))
          #expect(drawn.isReady)
        }
      } else {
        isOpen.wait()
        #expect(outcome { try wanted.ensureReady() } == .ready)
      }
    }
    Self.check(pool, [drawn, wanted])
  }

  @Test("a frame token and a pin are not waited for without a deadline")
  func tokens() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let drawn = TrackedChunk(in: pool, label: "drawn", size: 6)
    let wanted = TrackedChunk(in: pool, label: "wanted", size: 6)
    try await noHang { _ in
      let frame = pool.beginFrame()
      try! drawn.ensureReady()
      #expect(outcome { try wanted.ensureReady() } == .noRoom(.heldByTokens))
      #expect(outcome { try wanted.ensureReady(waitingUpTo: .milliseconds(1)) } == .noRoom(.deadline))
      frame.end()
      #expect(outcome { try wanted.ensureReady() } == .ready)
      let pin = try! wanted.pin()
      #expect(outcome { try drawn.ensureReady() } == .noRoom(.heldByTokens))
      #expect(outcome { _ = try drawn.pin() } == .noRoom(.heldByTokens))
      #expect(outcome { try drawn.withReady(waitingUpTo: .milliseconds(1)) {} } == .noRoom(.deadline))
      pin.unpin()
      #expect(outcome { try drawn.ensureReady() } == .ready)
    }
    Self.check(pool, [drawn, wanted])
  }

  @Test("with a deadline, the end of a pin or of a frame token on another thread is noticed")
  func tokensWithDeadline() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let held = TrackedChunk(in: pool, label: "held", size: 6)
    let wanted = TrackedChunk(in: pool, label: "wanted", size: 6)
    for byFrame in [false, true] {
      let isHeld = Gate()
      try await noHang(onThreads: 2) { index in
        if index == 0 {
          if byFrame {
            let frame = pool.beginFrame()
            try! held.ensureReady()
            isHeld.open()
            _ = eventually { pool._waiting == 1 }
            frame.end()
          } else {
            let pin = try! held.pin()
            isHeld.open()
            _ = eventually { pool._waiting == 1 }
            pin.unpin()
          }
        } else {
          isHeld.wait()
          #expect(outcome { try wanted.ensureReady(waitingUpTo: .seconds(600)) } == .ready)
        }
      }
      Self.check(pool, [held, wanted])
    }
  }

  @Test("a scope ends where a pin goes on: who waited for the scope is told")
  func scopeBecomesToken() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let held = TrackedChunk(in: pool, label: "held", size: 6)
    let wanted = TrackedChunk(in: pool, label: "wanted", size: 6)
    let isHeld = Gate()
    let isOver = Gate()
    try await noHang(onThreads: 2) { index in
      if index == 0 {
        var pin: Pin<TrackedChunk>?
        try! held.withReady {
          pin = try! held.pin()
          isHeld.open()
          _ = eventually { pool._waiting == 1 }
        }
        isOver.wait()
        pin = nil
        _ = consume pin
      } else {
        isHeld.wait()
        #expect(outcome { try wanted.ensureReady() } == .noRoom(.heldByTokens))
        isOver.open()
      }
    }
    Self.check(pool, [held, wanted])
  }

  @Test("an invalidated product that a scope still uses is waited for", arguments: [false, true])
  func invalidatedInUse(wantsItself: Bool) async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let held = TrackedChunk(in: pool, label: "held", size: 6)
    let other = TrackedChunk(in: pool, label: "other", size: 6)
    let wanted = wantsItself ? held : other
    let isHeld = Gate()
    let isOver = Locked(false)
    try await noHang(onThreads: 2) { index in
      if index == 0 {
        try! held.withReady {
          isHeld.open()
          _ = eventually { pool._waiting == 1 || isOver.current }
          #expect(held.isWhole)
        }
      } else {
        isHeld.wait()
        held.invalidate()
        #expect(outcome { try wanted.ensureReady() } == .ready)
        isOver.set(true)
      }
    }
    Self.check(pool, [held, other])
  }

  @Test("an invalidated product whose scope ends where a pin goes on: who waited is told")
  func invalidatedScopeBecomesToken() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let held = ValueChunk(in: pool, label: "held", size: 6) { 1 }
    let wanted = TrackedChunk(in: pool, label: "wanted", size: 6)
    let isHeld = Gate()
    let isOver = Gate()
    try await noHang(onThreads: 2) { index in
      if index == 0 {
        var pin: Pin<ValueChunk<Int>>?
        try! held.withReady { _ in
          pin = try! held.pin()
          isHeld.open()
          _ = eventually { pool._waiting == 1 }
        }
        isOver.wait()
        pin = nil
        _ = consume pin
      } else {
        isHeld.wait()
        held.invalidate()
        #expect(outcome { try wanted.ensureReady() } == .noRoom(.heldByTokens))
        isOver.open()
      }
    }
    Self.check(pool, [wanted])
  }

  @Test("bytes that come back late, finished by another thread, by dropping them, or before free() returns")
  func lateFrees() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    for way in 0..<3 {
      let handedOver = Locked<LateFree?>(nil)
      let held = TrackedChunk(in: pool, label: "held", size: 8)
      let wanted = TrackedChunk(in: pool, label: "wanted", size: 8)
      held.hooks.free = { chunk in
        let late = chunk.deferFree()
        if way == 2 { late.finish() } else { handedOver.set(late) }
      }
      try await noHang(onThreads: 2) { index in
        if index == 0 {
          try! held.ensureReady()
          #expect(outcome { try wanted.ensureReady() } == .ready)
        } else if way < 2 {
          _ = eventually { pool._waiting == 1 }
          #expect(pool.statistics.freeing == 8)
          if way == 0 { handedOver.current!.finish() }
          handedOver.set(nil)
        }
      }
      held.hooks.free = nil
      Self.check(pool, [held, wanted])
    }
  }

  @Test("a deinit waits for its own chunk's room only for a moment")
  func dying() async throws {
    final class Last: TrackedChunk, @unchecked Sendable {
      let farewell = Locked<(@Sendable () -> Void)?>(nil)
      deinit { farewell.current?() }
    }
    let pool = ChunkPool(budget: .bytes(10))
    let held = TrackedChunk(in: pool, label: "held", size: 4)
    let wanted = TrackedChunk(in: pool, label: "wanted", size: 8)
    let isHeld = Gate()
    try await noHang(onThreads: 2) { index in
      if index == 0 {
        try! held.withReady {
          isHeld.open()
          _ = eventually { pool._waiting == 1 }
        }
      } else {
        isHeld.wait()
        let last = Last(in: pool, label: "last", size: 6)
        last.farewell.set { #expect(outcome { try wanted.ensureReady() }.isRefusal) }
        try! last.ensureReady()
      }
    }
    Self.check(pool, [held, wanted])
  }
}
