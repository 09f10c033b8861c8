import MemChunks
import TestSupport
import Testing

/// Promise 6 for requests for several chunks: what one of them has not begun to make is no reason to call a need of
/// another a ring.
@Suite("No hang: several at once that need each other's", .timeLimit(.hang))
struct NoHangSeveralTests {
  /// How a pair is asked for.
  enum Way: CaseIterable { case scope, pin, task }

  /// Asks for each pair at the same time, in the way given; returns how they ended.
  private static func askAll(_ way: Way, _ pairs: [(ChunkPool, [TrackedChunk])]) async throws -> [Outcome] {
    let outcomes = Locked([Outcome](repeating: .other("none"), count: pairs.count))
    if way == .task {
      try await noHangInTask {
        await withTaskGroup { group in
          for (index, (pool, chunks)) in pairs.enumerated() {
            group.addTask {
              let outcome = await outcome { try await pool.withReady(chunks) {} }
              outcomes.withLock { $0[index] = outcome }
            }
          }
        }
      }
    } else {
      try await noHang(onThreads: pairs.count) { index in
        let (pool, chunks) = pairs[index]
        let outcome =
          way == .scope
          ? outcome { try pool.withReady(chunks) { for chunk in chunks { precondition(chunk.isWhole) } } }
          : outcome { _ = try pool.pin(chunks) }
        outcomes.withLock { $0[index] = outcome }
      }
    }
    return outcomes.current
  }

  @Test(
    "the first of each pair needs the second of the next: nobody needs itself", arguments: Way.allCases,
    [(2, 1), (3, 1), (2, 2), (4, 2)])
  func crosswise(way: Way, shape: (count: Int, pools: Int)) async throws {
    // For tasks a pool has two threads at least, so so many begin at once.
    let together = way == .task ? 2 : shape.count
    for _ in 0..<Stress.rounds(20) {
      let pools = (0..<shape.pools).map { _ in ChunkPool(budget: .bytes(100)) }
      let firsts = (0..<shape.count).map { TrackedChunk(in: pools[$0 % shape.pools], label: "first \($0)", size: 2) }
      let seconds = (0..<shape.count).map { TrackedChunk(in: pools[$0 % shape.pools], label: "second \($0)", size: 2) }
      let begun = ByteTally()
      for (index, chunk) in firsts.enumerated() {
        let next = seconds[(index + 1) % shape.count]
        chunk.hooks.generate = { _ in
          begun.add(1)
          _ = eventually { begun.bytes >= together }
          try next.ensureReady()
        }
      }
      let pairs = (0..<shape.count).map { (pools[$0 % shape.pools], [firsts[$0], seconds[$0]]) }
      let outcomes = try await Self.askAll(way, pairs)
      #expect(outcomes == Array(repeating: .ready, count: shape.count))
      #expect((firsts + seconds).allSatisfy { $0.generations == 1 })
      for chunk in firsts { chunk.hooks = .init() }
      for pool in pools { checkNothingIsLeft(of: pool) }
    }
  }

  @Test("wanted while room is still being made for it")
  func beforeItsRoom() async throws {
    let pool = ChunkPool(budget: .bytes(12))
    let victim = TrackedChunk(in: pool, label: "victim", size: 8)
    let first = TrackedChunk(in: pool, label: "first", size: 4)
    let second = TrackedChunk(in: pool, label: "second", size: 4)
    let other = TrackedChunk(in: pool, label: "other", size: 4)
    let isFreeing = Gate()
    // "other" waits for "second", which nobody has begun; then "first", made before it, needs "other".
    victim.hooks.free = { _ in
      isFreeing.open()
      _ = eventually { pool._waiting == 1 }
    }
    first.hooks.generate = { _ in try other.ensureReady() }
    try await victim.ensureReady()
    let otherBegan = Gate()
    other.hooks.generate = { _ in
      otherBegan.open()
      isFreeing.wait()
      try second.ensureReady()
    }
    let outcomes = Locked([Outcome](repeating: .other("none"), count: 2))
    try await noHang(onThreads: 2) { index in
      if index == 0 { otherBegan.wait() }
      let outcome = outcome {
        if index == 0 { try pool.withReady([first, second]) {} } else { try other.ensureReady() }
      }
      outcomes.withLock { $0[index] = outcome }
    }
    #expect(outcomes.current == [.ready, .ready])
    #expect(first.generations == 1 && second.generations == 1 && other.generations == 1)
    victim.hooks = .init()
    checkNothingIsLeft(of: pool)
  }

  /// A pool in which one thread wants "first" and "second", and another makes "second" for it, because its own "other"
  /// needs that, while "first" is still being made.
  private final class Scene: Sendable {
    let pool = ChunkPool(budget: .bytes(100))
    let first: TrackedChunk
    let second: TrackedChunk
    let other: TrackedChunk
    let outer: TrackedChunk
    private let firstBegan = Gate()
    private let secondBegan = Gate()
    let secondMayEnd = Gate()
    let outcomes = Locked([Outcome](repeating: .other("none"), count: 2))

    init() {
      first = TrackedChunk(in: pool, label: "first", size: 4)
      second = TrackedChunk(in: pool, label: "second", size: 4)
      other = TrackedChunk(in: pool, label: "other", size: 4)
      outer = TrackedChunk(in: pool, label: "outer", size: 4)
    }

    /// - Parameters:
    ///   - inFirst: runs in the generation of "first", when that of "second" has begun.
    ///   - inSecond: runs in the generation of "second".
    func run(
      inOuter: Bool = false, inFirst: @escaping @Sendable () throws -> Void,
      inSecond: @escaping @Sendable () throws -> Void
    ) async throws {
      first.hooks.generate = { [firstBegan, secondBegan] _ in
        firstBegan.open()
        secondBegan.wait()
        try inFirst()
      }
      second.hooks.generate = { [secondBegan] _ in
        secondBegan.open()
        try inSecond()
      }
      other.hooks.generate = { [unowned second] _ in try second.ensureReady() }
      outer.hooks.generate = { [unowned self] _ in try pool.withReady([first, second]) {} }
      try await noHang(onThreads: 2) { [self] index in
        if index == 1 { firstBegan.wait() }
        let outcome = outcome {
          switch index {
          case 0 where inOuter: try outer.ensureReady()
          case 0: try pool.withReady([first, second]) { precondition(first.isWhole && second.isWhole) }
          default: try other.ensureReady()
          }
        }
        outcomes.withLock { $0[index] = outcome }
      }
      for chunk in [first, second, other, outer] { chunk.hooks = .init() }
      checkNothingIsLeft(of: pool)
    }
  }

  @Test("who asked for both waits for what another makes of it")
  func waitsForTheOther() async throws {
    let scene = Scene()
    try await scene.run(inFirst: {}) { [unowned pool = scene.pool, unowned first = scene.first] in
      // "first" is made, and its thread has nothing left to make.
      _ = eventually { first.isReady }
      for _ in 0..<100 { yieldThread() }
      #expect(pool.statistics.generations == 1)
    }
    #expect(scene.outcomes.current == [.ready, .ready])
    #expect(scene.second.generations == 1)
  }

  @Test("what another makes of it fails: both are told")
  func otherFails() async throws {
    let scene = Scene()
    try await scene.run(inFirst: {}) { throw Mishap(7) }
    let failed = Outcome.failed(.other("\(Mishap(7))"))
    #expect(scene.outcomes.current == [failed, .failed(failed)])
    #expect(scene.second.generations == 1)
  }

  @Test("the first fails while another makes the second: that is not thrown away")
  func firstFails() async throws {
    let scene = Scene()
    try await scene.run(inFirst: { throw Mishap(7) }) { [unowned pool = scene.pool] in
      _ = eventually { pool.statistics.failures == 1 }
    }
    #expect(scene.outcomes.current == [.failed(.other("\(Mishap(7))")), .ready])
    #expect(scene.second.generations == 1 && scene.other.generations == 1)
  }

  @Test("the second is invalidated while another makes it: made anew for both")
  func invalidated() async throws {
    let scene = Scene()
    let second = scene.second
    try await scene.run(inFirst: {}) { [unowned second] in
      if second.generations == 1 { TestThread { second.invalidate() }.join() }
    }
    #expect(scene.outcomes.current == [.ready, .ready])
    #expect(second.generations == 2)
  }

  @Test("the second, made by another, needs what asked for both: that is a ring, and found", arguments: [false, true])
  func ring(isClosedLate: Bool) async throws {
    let scene = Scene()
    try await scene.run(
      inOuter: true,
      inFirst: { [unowned pool = scene.pool] in
        if !isClosedLate { _ = eventually(within: 1) { pool._waiting == 1 } }
      },
      inSecond: { [unowned outer = scene.outer, unowned first = scene.first] in
        if isClosedLate { _ = eventually { first.isReady } }
        try outer.ensureReady()
      })
    #expect(scene.outcomes.current.allSatisfy { $0.isRing }, "\(scene.outcomes.current)")
  }
}
