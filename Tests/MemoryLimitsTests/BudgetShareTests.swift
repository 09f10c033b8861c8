import MemChunks
import MemoryLimits
import TestSupport
import Testing

@Suite("Budgets that are shares")
struct BudgetShareTests {
  private static func tree(limit: Int) -> SystemTree {
    .v2(group: "/g", ["/sys/fs/cgroup/g/memory.max": "\(limit)\n"])
  }

  @Test(
    "A share has a least and a most, and is never more than all",
    arguments: [
      (BudgetShare.share(0.25), 250), (.share(0), 0), (.share(1), 1_000), (.share(-1), 0), (.share(7), 1_000),
      (.share(.nan), 0), (.share(0.5, atMost: .bytes(300)), 300), (.share(0.1, atLeast: .bytes(200)), 200),
      (.share(0.1, atLeast: .bytes(5_000)), 1_000), (.share(0.5, atMost: .bytes(100), atLeast: .bytes(200)), 100),
    ])
  func bounds(share: BudgetShare, budget: Int) {
    let tree = Self.tree(limit: 1_000)
    defer { keep(tree) }
    #expect(share.budget(of: .current(tree.files)).bytes == budget)
  }

  @Test("A pool gets its share of what this process may have")
  func running() {
    let pool = ChunkPool(budget: .share(0.25))
    #expect(pool.budget.bytes == ProcessLimits.current().least.size.bytes / 4)
    #expect(ChunkPool(budget: .share(0.25, atMost: .megabytes(1))).budget == .megabytes(1))
  }

  @Test("The budget follows the limit, and lowering it frees")
  func follows() throws {
    let tree = Self.tree(limit: 200)
    defer { keep(tree) }
    let pool = ChunkPool(budget: .bytes(0))
    let follower = LimitFollower(.share(0.5), tree.files)
    pool.budget = follower.budget
    let chunks = (0..<10).map { TrackedChunk(in: pool, label: "\($0)", size: 10) }
    for chunk in chunks { try chunk.ensureReady() }
    #expect(pool.budget.bytes == 100 && pool.statistics.ready == 100)
    tree.set("/sys/fs/cgroup/g/memory.max", "80\n")
    follower.look(pool.link)
    #expect(pool.budget.bytes == 40 && pool.statistics.ready == 40)
    tree.set("/sys/fs/cgroup/g/memory.max", "max\n")
    follower.look(pool.link)
    #expect(pool.budget.bytes == 8 << 30)
    withExtendedLifetime(chunks) {}
  }

  @Test("What was set by hand stays until the limit changes")
  func byHand() {
    let tree = Self.tree(limit: 200)
    defer { keep(tree) }
    let pool = ChunkPool(budget: .bytes(0))
    let follower = LimitFollower(.share(0.5), tree.files)
    pool.budget = .bytes(30)
    follower.look(pool.link)
    #expect(pool.budget.bytes == 30)
    tree.set("/sys/fs/cgroup/g/memory.max", "180\n")
    follower.look(pool.link)
    #expect(pool.budget.bytes == 90)
  }

  @Test("The polling thread does that by itself, and stops with the pool")
  func polled() {
    let tree = Self.tree(limit: 200)
    defer { keep(tree) }
    var pool: ChunkPool? = ChunkPool(budget: .share(0.5), files: tree.files)
    #expect(pool?.budget.bytes == 100)
    tree.set("/sys/fs/cgroup/g/memory.max", "80\n")
    #expect(eventually { pool?.budget.bytes == 40 })
    weak let gone = pool
    pool = nil
    #expect(gone == nil)
  }
}
