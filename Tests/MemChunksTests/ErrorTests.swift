import MemChunks
import TestSupport
import Testing

@Suite("Errors: numbers, names, and a message a person can act on")
struct ErrorTests {
  @Test("tooLarge names both numbers, and the group whose limit it is")
  func tooLarge() throws {
    let pool = ChunkPool(budget: .kilobytes(10))
    let error = try #require(chunkError { try pool.tracked("photo", 20_480).ensureReady() })
    #expect(
      error.description
        == "\"photo\" needs 20 KB (20480 bytes), more than the budget, 10 KB (10240 bytes); make it smaller, or raise the limit"
    )
    let group = ChunkGroup(in: pool, label: "icons", limit: .bytes(100))
    let inGroup = try #require(chunkError { try pool.tracked("", 101, group: group).ensureReady() })
    #expect(
      inGroup.description.hasPrefix(
        "a chunk without label needs 101 bytes, more than the limit of group \"icons\", 100 bytes;"))
    // Of several, the group's share is what counts against the group.
    let mixed = [pool.tracked("a", 60, group: group), pool.tracked("b", 50, group: group), pool.tracked("c", 500)]
    #expect(TooLarge { try pool.withReady(mixed) {} } == TooLarge("a, b, c", needed: 110, limit: 100, group: "icons"))
  }

  @Test("noRoom names what was needed, what there was, and who holds it, the dearest first")
  func noRoom() throws {
    let pool = ChunkPool(budget: .bytes(20))
    let chunks = [3, 9, 1, 4, 2].enumerated().map { pool.tracked("c\($0.offset)", $0.element) }
    let error = try #require(try pool.withReady(chunks) { chunkError { try pool.tracked("new", 5).ensureReady() } })
    guard case .noRoom(let numbers) = error else {
      Issue.record("not noRoom: \(error)")
      return
    }
    #expect(numbers.holders == ["c1", "c3", "c0", "c4"] && numbers.free == 1 && numbers.pinned == 19)
    #expect(
      error.description
        == "no room for \"new\": needed 5 bytes, free 1 byte of 20 bytes; pinned 19 bytes, framed 0 bytes, "
        + "generating 0 bytes, being freed 0 bytes; held by \"c1\", \"c3\", \"c0\", \"c4\" "
        + "(a request from inside a scope, a frame or a generation does not wait for pins)")
  }

  @Test("noRoom tells pinned, framed, generating and being freed apart")
  func noRoomParts() throws {
    let pool = ChunkPool(budget: .bytes(20))
    let late = Locked<LateFree?>(nil)
    let freeing = pool.tracked("freeing", 1), framed = pool.tracked("framed", 2), pinned = pool.tracked("pinned", 4)
    let outer = pool.tracked("outer", 8), wanted = pool.tracked("wanted", 9)
    freeing.hooks.free = { late.set($0.deferFree()) }
    try freeing.ensureReady()
    freeing.discard()
    let found = Locked<ChunkError.NoRoom?>(nil)
    let pin = try pinned.pin()
    outer.hooks.generate = { _ in found.set(refusal { try wanted.ensureReady() }) }
    try pool.frame {
      try framed.ensureReady()
      try outer.ensureReady()
    }
    pin.unpin()
    let numbers = try #require(found.current)
    #expect(numbers.needed == 9 && numbers.free == 5 && numbers.budget == 20)
    #expect(numbers.pinned == 4 && numbers.framed == 2 && numbers.reserved == 8 && numbers.freeing == 1)
    #expect(numbers.holders == ["outer", "pinned", "framed"])
    late.set(nil)
    pool._checkInvariants()
  }

  @Test("The reason why a request did not wait")
  func reasons() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let all = pool.tracked("all", 10), one = pool.tracked("one", 1)
    let pin = try all.pin()
    #expect(refusal { try one.ensureReady() }?.reason == .heldByTokens)
    #expect(refusal { _ = try one.pin() }?.reason == .heldByTokens)
    #expect(refusal { try one.ensureReady(waitingUpTo: .milliseconds(1)) }?.reason == .deadline)
    #expect(refusal { try one.ensureReady(waitingUpTo: .seconds(-5)) }?.reason == .deadline)
    pin.unpin()
    try all.withReady {
      #expect(refusal { try one.ensureReady() }?.reason == .holdsOthers)
      #expect(refusal { try one.ensureReady(waitingUpTo: .zero) }?.reason == .deadline)
    }
    try pool.frame {
      try all.ensureReady()
      #expect(refusal { try one.ensureReady() }?.reason == .holdsOthers)
    }
    let inFree = Locked<ChunkError.NoRoom.Reason?>(nil)
    all.hooks.free = { _ in inFree.set(refusal { try one.ensureReady() }?.reason) }
    all.discard()
    #expect(inFree.current == .insideFree)
    all.hooks = .init()
    let inGenerate = Locked<ChunkError.NoRoom.Reason?>(nil)
    all.hooks.generate = { _ in inGenerate.set(refusal { try one.ensureReady() }?.reason) }
    try all.ensureReady()
    #expect(inGenerate.current == .holdsOthers)
    pool._checkInvariants()
  }

  @Test("recursive names the ring, in order")
  func recursive() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunks = pool.tracked(3, of: 1)
    for number in 0..<3 {
      chunks[number].hooks.generate = { [next = chunks[(number + 1) % 3]] _ in try next.ensureReady() }
    }
    guard case .recursive(let ring)? = chunkError({ try chunks[0].ensureReady() }) else {
      Issue.record("the ring was not found")
      return
    }
    #expect(ring == ["c0", "c1", "c2", "c0"])
    #expect(
      ChunkError.recursive(ring).description
        == "chunks need each other in a ring: \"c0\" -> \"c1\" -> \"c2\" -> \"c0\"; break the ring in one generate() or size"
    )
    #expect(pool.used.bytes == 0)
    for chunk in chunks { chunk.hooks = .init() }
    pool._checkInvariants()
  }

  @Test("generationFailed carries what was thrown, cancelled and poolClosed say what to do, invalidSize the size")
  func others() throws {
    var pool: ChunkPool? = ChunkPool(budget: .bytes(10))
    let chunk = pool!.tracked("a", 1)
    chunk.hooks.generate = { _ in throw Broken(number: 7) }
    let failed = try #require(chunkError { try chunk.ensureReady() })
    #expect(failed.description == "generating \"a\" failed: Broken(number: 7)")
    chunk.declaredSize = -2
    #expect(
      chunkError { try chunk.ensureReady() }?.description
        == "\"a\" says that it takes -2 bytes, which cannot be; correct its size")
    chunk.declaredSize = 1
    let gate = Gate()
    chunk.hooks.generate = { _ in gate.wait() }
    let thread = TestThread { try? chunk.ensureReady() }
    gate.waitForArrivals()
    let late = try #require(chunkError { try chunk.ensureReady(waitingUpTo: .zero) })
    #expect(late.description == "the deadline passed while it waited for \"a\"")
    gate.open()
    thread.join()
    #expect(
      ChunkError.cancelled(label: "a", atDeadline: false).description
        == "the task was cancelled while it waited for \"a\"")
    pool = nil
    let closed = try #require(chunkError { try chunk.ensureReady() })
    #expect(
      closed.description
        == "\"a\" belongs to a pool that is closed; keep the ChunkPool as long as its chunks are used")
    #expect(
      ChunkError.poolClosed(label: "a", afterFork: true).description
        == "\"a\" belongs to a pool of the parent process; a fork must make a pool of its own")
  }

  @Test("ByteCount: units, saturation, order and description")
  func byteCount() {
    #expect(ByteCount.bytes(-1).bytes == 0 && ByteCount.kilobytes(-1).bytes == 0)
    #expect(ByteCount.kilobytes(3).bytes == 3_072 && ByteCount.megabytes(10).bytes == 10_485_760)
    #expect(ByteCount.gigabytes(2).bytes == 2_147_483_648)
    let most = ByteCount.bytes(.max)
    #expect(most == .gigabytes(.max) && most == .kilobytes(.max) && most.bytes > 1 << 60)
    #expect(ByteCount.megabytes(.min).bytes == 0)
    #expect(ByteCount.bytes(1_023) < .kilobytes(1) && ByteCount.kilobytes(1_024) == .megabytes(1))
    let texts = [0, 1, 2, 1_023, 1_024, 1_536, 1_048_064, 10_485_760, 3_221_225_472].map { "\(ByteCount.bytes($0))" }
    #expect(
      texts == ["0 bytes", "1 byte", "2 bytes", "1023 bytes", "1 KB", "1.5 KB", "1023.5 KB", "10 MB", "3 GB"])
  }

  @Test(
    "An absurdly large size is an invalid size, not an overflow", arguments: [Int.max, .max / 2, .max / 4 + 1, .min])
  func absurdSizes(size: Int) throws {
    let pool = ChunkPool(budget: .bytes(.max))
    let kinds: [MemChunk] = [
      pool.tracked("a", size), ValueChunk(in: pool, label: "a", size: size) { 1 },
      BufferChunk(in: pool, label: "a", size: size) { _ in },
      ValueChunk(in: pool, label: "a", size: 1, workingPeak: size) { 1 },
    ]
    for chunk in kinds {
      guard case .invalidSize("a", _)? = chunkError({ try chunk.ensureReady() }) else {
        Issue.record("\(type(of: chunk)) of \(size) bytes was not refused as invalid")
        continue
      }
      #expect(!chunk.isReady)
    }
    #expect(pool.used.bytes == 0)
    pool._checkInvariants()
  }

  @Test("The largest sizes that are valid, several at once: refused, without an overflow")
  func largestSizes() throws {
    let pool = ChunkPool(budget: .bytes(.max))
    let most = pool.budget.bytes
    let chunks = pool.tracked(9, of: most)
    guard case .tooLarge(_, let needed, most, nil)? = chunkError({ try pool.withReady(chunks) {} }) else {
      Issue.record("several times the largest size was not refused")
      return
    }
    #expect(needed > most && pool.used.bytes == 0)
    chunks[0].declaredSize = 1
    let other = pool.tracked("other", most)
    try chunks[0].withReady { #expect(refusal { try other.ensureReady() }?.free == most - 1) }
    pool._checkInvariants()
  }

  @Test("What a ready chunk says of its size is not asked of it again")
  func readyChunksAreNotJudged() throws {
    let pool = ChunkPool(budget: .bytes(10))
    let chunks = pool.tracked(2, of: 3)
    try chunks[0].ensureReady()
    chunks[0].declaredSize = -1
    try pool.withReady(chunks) { #expect(pool.used.bytes == 6) }
    chunks[1].discard()
    chunks[1].declaredSize = .max
    guard case .invalidSize("c1", .max)? = chunkError({ try pool.withReady(chunks) {} }) else {
      Issue.record("an invalid size was not found")
      return
    }
    #expect(chunks[0].isReady && pool.statistics.pinned == 0)
    pool._checkInvariants()
  }
}
