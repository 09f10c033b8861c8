import MemChunks
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Case 55: chunks that own memory and are dropped while it is there. Means most under the address sanitizer.
@Suite("Lifetime", .timeLimit(.hang))
struct LifetimeTests {
  /// Owns memory of the C library, and fields that `free()` needs after the deinit body has run.
  private class Owner: MemChunk, @unchecked Sendable {
    let steps: Locked<[String]>
    let names: [String]
    private var memory: UnsafeMutablePointer<UInt8>?

    init(in pool: ChunkPool, group: ChunkGroup? = nil, _ steps: Locked<[String]>) {
      self.steps = steps
      names = (0..<3).map { "name \($0) of a length that needs memory of its own" }
      super.init(in: pool, group: group, label: "owner")
    }

    deinit {
      // Must not release the product itself, and the product is still there.
      let last = memory?[63]
      steps.withLock { $0.append("deinit \(last ?? 0)") }
    }

    override var size: Int { 64 }

    override func generate() {
      memory = malloc(64)!.bindMemory(to: UInt8.self, capacity: 64)
      memset(memory!, 7, 64)
    }

    override func free() {
      precondition(names.allSatisfy { $0.hasSuffix("its own") })
      steps.withLock { $0.append("free \(memory![0])") }
      // The C library's, not this method.
      release(memory)
      memory = nil
    }
  }

  /// One more level, whose deinit body runs first and whose fields must be there as well.
  private final class DeeperOwner: Owner, @unchecked Sendable {
    let extra = Array(repeating: "deeper, also with memory of its own", count: 4)
    deinit { steps.withLock { $0.append("deeper") } }
    override func free() {
      precondition(extra.allSatisfy { $0.hasPrefix("deeper") })
      super.free()
    }
  }

  @Test("Case 55: dropped while ready: free() once, after its own deinit body, with its fields intact")
  func droppedReady() throws {
    let pool = ChunkPool(budget: .bytes(100))
    let steps = Locked<[String]>([])
    var owner: Owner? = Owner(in: pool, steps)
    try owner!.ensureReady()
    owner = nil
    #expect(steps.current == ["deinit 7", "free 7"])
    #expect(pool.used == .bytes(0))
    steps.set([])
    owner = DeeperOwner(in: pool, steps)
    try owner!.ensureReady()
    owner = nil
    #expect(steps.current == ["deeper", "deinit 7", "free 7"])
    #expect(pool.used == .bytes(0))
    #expect(pool.statistics.frees == 2)
    pool._checkInvariants()
  }

  @Test("Case 55: dropped while empty, or never used: no free() at all")
  func droppedEmpty() throws {
    let pool = ChunkPool(budget: .bytes(100))
    let steps = Locked<[String]>([])
    do { _ = Owner(in: pool, steps) }
    #expect(steps.current == ["deinit 0"])
    do {
      let owner = Owner(in: pool, steps)
      try owner.ensureReady()
      owner.discard()
    }
    #expect(steps.current == ["deinit 0", "free 7", "deinit 0"])
    #expect(pool.used == .bytes(0))
  }

  @Test("Case 55: dropped after the pool, in a scope's last moment, and by the pin that held it")
  func droppedOtherwise() throws {
    let steps = Locked<[String]>([])
    var pool: ChunkPool? = ChunkPool(budget: .bytes(100))
    do {
      let owner = Owner(in: pool!, steps)
      let pin = try owner.pin()
      pool = nil
      #expect(steps.current.isEmpty)
      pin.unpin()
      #expect(steps.current == ["free 7"])
    }
    #expect(steps.current == ["free 7", "deinit 0"])
    steps.set([])
    let second = ChunkPool(budget: .bytes(100))
    func pinned() throws -> Pin<Owner> { try Owner(in: second, steps).pin() }
    let pin = try pinned()
    // Only the token holds it.
    #expect(second.used == .bytes(64))
    second.freeAll()
    #expect(steps.current.isEmpty)
    pin.unpin()
    #expect(steps.current.filter { $0 == "free 7" }.count == 1)
    #expect(second.used == .bytes(0))
    #expect(pool == nil)
  }

  @Test("Case 55: the last reference goes while an eviction looks at the chunk, many rounds")
  func droppedBesideEvictions() async throws {
    let pool = ChunkPool(budget: .bytes(64 * 4))
    let steps = Locked<[String]>([])
    let made = ByteTally()
    try await noHang(onThreads: 3) { index in
      for _ in 0..<Stress.rounds(2_000) {
        // Each owner fills a quarter of the budget, so every one is somebody's victim or dropped just then.
        let owner = index == 0 ? DeeperOwner(in: pool, steps) : Owner(in: pool, steps)
        let outcome = outcome { try owner.ensureReady() }
        precondition(outcome == .ready || outcome.isRefusal)
        if outcome == .ready { made.add(1) }
      }
    }
    #expect(pool.used == .bytes(0))
    #expect(steps.current.filter { $0 == "free 7" }.count == made.bytes)
    pool._checkInvariants()
  }

  @Test("Case 55: values and buffers that are dropped while ready, old editions among them")
  func valuesAndBuffers() throws {
    final class Product: Sendable {
      let tally: ByteTally
      init(_ tally: ByteTally) {
        self.tally = tally
        tally.add(1)
      }
      deinit { tally.add(-1) }
    }
    let pool = ChunkPool(budget: .megabytes(1))
    let tally = ByteTally()
    do {
      let value = ValueChunk(in: pool, label: "value", size: 64) { Product(tally) }
      let old = try value.pin()
      value.update(size: 32) { Product(tally) }
      try value.ensureReady()
      #expect(tally.bytes == 2)
      #expect(pool.used == .bytes(96))
      old.unpin()
      #expect(tally.bytes == 1)
      let buffer = BufferChunk(in: pool, label: "buffer", size: 10_000) { bytes in
        bytes.storeBytes(of: 1, toByteOffset: 9_999, as: UInt8.self)
      }
      try buffer.withBytes { #expect($0.byteCount == 10_000) }
      #expect(pool.statistics.chunks == 2)
    }
    #expect(tally.bytes == 0)
    #expect(pool.statistics.chunks == 0)
    #expect(pool.statistics.ready == 0)
    pool.freeAll()
    #expect(pool.used == .bytes(0))
  }
}

/// `free` of the C library, which a chunk's method of the same name hides.
private func release(_ memory: UnsafeMutablePointer<UInt8>?) { free(memory) }
