import MemChunks
import TestSupport
import Testing

/// One chunk in use by more than its word can count.
@Suite("Many users of one chunk", .timeLimit(.hang))
struct ManyUsersTests {
  private static let many = 40_000

  private final class Uncounted: MemChunk, @unchecked Sendable {
    let frees = Locked(0)
    override var size: Int { 4 }
    override func free() { frees.withLock { $0 += 1 } }
  }

  @Test("40 000 pins, and twice as many: the chunk stays until the last goes, and goes once", arguments: [1, 2])
  func pins(times: Int) throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunk = Uncounted(in: pool, label: "a")
    var pins = try (0..<times * Self.many).map { _ in try HeldPin(chunk) }
    #expect(chunk.isReady && pool.statistics.pinned == 4)
    pool._checkInvariants()
    // Nobody may have it, or waits for tokens.
    #expect(outcome { try pool.tracked("b", 7).ensureReady() } == .noRoom(.heldByTokens))
    pool.freeAll()
    // A scope that begins and ends beside so many.
    try chunk.withReady { #expect(pool.snapshot().map(\.state) == [.pinned]) }
    while pins.count > 1 {
      pins.removeLast(min(9_000, pins.count - 1))
      #expect(chunk.isReady && chunk.frees.current == 0)
      pool._checkInvariants()
    }
    pins.removeAll()
    #expect(!chunk.isReady && chunk.frees.current == 1 && pool.used == .bytes(0))
    pool._checkInvariants()
  }

  @Test("40 000 pins of an invalidated chunk hold the old product until the last of them goes")
  func retired() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunk = ValueChunk(in: pool, size: 3) { 1 }
    var old = try (0..<Self.many).map { _ in try HeldPin(chunk) }
    chunk.invalidate()
    var new = try (0..<Self.many).map { _ in try HeldPin(chunk) }
    #expect(pool.used == .bytes(6))
    pool._checkInvariants()
    old.removeLast(Self.many - 1)
    #expect(pool.used == .bytes(6))
    old.removeAll()
    #expect(pool.used == .bytes(3) && chunk.isReady)
    new.removeAll()
    chunk.discard()
    #expect(pool.used == .bytes(0))
    pool._checkInvariants()
  }

  @Test("40 000 tasks that wait for one slow chunk in withReady")
  func joiningTasks() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunk = pool.tracked("slow", 4)
    let gate = Gate()
    chunk.hooks.generate = { _ in gate.wait() }
    let served = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<Self.many {
        group.addTask { await outcome { () async throws in try await chunk.withReady {} } == .ready }
      }
      // All but the one whose request is the work.
      while pool._waiting < Self.many - 1 { await Task.yield() }
      gate.open()
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(served == Self.many && chunk.generations == 1)
    pool.freeAll()
    #expect(!chunk.isReady && pool.used == .bytes(0))
    pool._checkInvariants()
  }

  @Test("70 000 tasks that wait for one slow chunk's pin, which all of them hold at once")
  func joiningPins() async throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunk = pool.tracked("slow", 4)
    let gate = Gate()
    chunk.hooks.generate = { _ in gate.wait() }
    let box = Locked<[Held]>([])
    await withTaskGroup { group in
      for _ in 0..<70_000 {
        group.addTask {
          guard let pin = try? await Held(chunk.pin()) else { return }
          box.withLock { $0.append(pin) }
        }
      }
      while pool._waiting < 70_000 - 1 { await Task.yield() }
      gate.open()
    }
    let pins = box.current
    #expect(pins.count == 70_000 && chunk.isReady && chunk.generations == 1)
    pool._checkInvariants()
    for pin in pins.dropLast() { pin.letGo() }
    pool.freeAll()
    #expect(chunk.isReady)
    pins[pins.count - 1].letGo()
    #expect(!chunk.isReady && chunk.frees == 1)
    pool._checkInvariants()
  }

  @Test("Threads that begin and end scopes while others hold more than the word can count")
  func racing() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunk = pool.tracked("a", 4)
    let kept = Locked<[HeldPin]>([])
    onThreads(4) { number in
      for round in 0..<3 {
        var pins: [HeldPin] = []
        for _ in 0..<9_000 {
          pins.append(try! HeldPin(chunk))
          if pins.count % 100 == 0 { try! chunk.withReady { precondition(chunk.isWhole) } }
        }
        if number == 0, round == 1 { pool.freeAll() }
        if round == 2 { kept.withLock { $0 += pins } }
      }
    }
    #expect(chunk.isReady && chunk.isWhole)
    pool._checkInvariants()
    kept.set([])
    pool.freeAll()
    #expect(!chunk.isReady && chunk.frees == chunk.generations && pool.used == .bytes(0))
    pool._checkInvariants()
  }
}
