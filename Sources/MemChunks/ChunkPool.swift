import CMemChunks

/// A memory subsystem: one budget, many chunks.
///
///     let pool = ChunkPool(budget: .megabytes(10))
///
/// Everything the pool counts - chunks that are ready, room promised to generations, memory that is being freed, free
/// pages of its arena - stays within the budget at every instant. When room is needed, the chunks that were not used
/// for longest are freed until there is enough; if that cannot be, nothing is freed and the request is refused, or waits.
///
/// Tasks and prefetches have their chunks made by threads of the pool's own: as many as there are processors at work, and
/// 64 at most in all, or two for each processor where that is more. So many generations can wait in others at once; further
/// tasks wait without a thread.
///
/// The pool is a handle. Dropping it closes the pool: every product is freed once, waiting requests get
/// `ChunkError.poolClosed`. All of it may be used from any thread, also from inside `size`, `generate()`, `free()` and an
/// observer: none of those runs under the pool's lock.
///
/// A child after `fork()` has none of the pool's threads, and must not use the pool: what is ready may be read, a use that
/// misses is refused, anything else stops the child. To start another program is fine (`posix_spawn`, or `fork` and `exec`).
public final class ChunkPool: Sendable {
  let core: PoolCore
  let ownGroup: ChunkGroup

  /// Makes an empty pool. Reserves no memory.
  ///
  /// - Parameters:
  ///   - budget: the hard limit on everything counted.
  ///   - policy: which chunks go first when room is needed.
  public convenience init(budget: ByteCount, policy: EvictPolicy = .lru) {
    self.init(budget: budget, policy: policy, time: mc_monotonic_nanoseconds)
  }

  /// Makes a pool with a clock of the caller's, in nanoseconds, for tests.
  package init(budget: ByteCount, policy: EvictPolicy = .lru, time: @escaping @Sendable () -> UInt64) {
    core = PoolCore(budget: budget.bytes, order: policy.makeOrder(), time: time)
    ownGroup = ChunkGroup(own: core)
  }

  deinit { core.shutDown() }

  /// The hard limit on everything counted.
  ///
  /// Lowering it frees unused chunks at once, down to it; what is in use goes when its use ends, and until
  /// then is reported as `statistics.overdraft`. Raising it regenerates nothing.
  public var budget: ByteCount {
    get { .bytes(core.read { core.ledger.budget }) }
    set { core.setBudget(newValue.bytes) }
  }

  /// How much may stay ready while nobody is using it; nil, the default, for the whole budget.
  ///
  /// With none at all, each use generates, and frees when the last use ends.
  public var keepLimit: ByteCount? {
    get { core.read { core.pressure.keepLimit }.map { .bytes($0) } }
    set { core.setKeepLimit(newValue?.bytes) }
  }

  /// How many generations may run at once, at least 1; nil, the default, for no limit. Generations inside others are not
  /// counted, so that they cannot wait for themselves.
  public var generationLimit: Int? {
    get {
      let limit = core.read { core.generationLimit }
      return limit == .max ? nil : limit
    }
    set {
      core.locked { after in
        self.core.generationLimit = max(1, newValue ?? .max)
        self.core.serve(&after)
      }
    }
  }

  /// Whether a buffer that fits nowhere among resident pages may have more freed than its bytes need, where that is
  /// cheaper; on unless you say otherwise.
  ///
  /// Buffers of different sizes leave room that does not lie together. Fresh pages would do, but the system clears each of
  /// them, about a millisecond a megabyte, and as many others have to be given back. So instead the least recently used
  /// buffers go, in turn, until enough lies together - if generating those took less time than that. Where it took more, as
  /// for decoded pictures, where the next in turn is no buffer, or where it would not help, pages are exchanged. Turn it off
  /// where victims must not depend on how long something took.
  public var freesAhead: Bool {
    get { core.read { core.ledger.freesAhead } }
    set { core.locked { _ in self.core.ledger.freesAhead = newValue } }
  }

  /// Whether the system may back buffers by huge pages, which are made resident much faster; off unless you say otherwise.
  /// Linux only: on other systems it has no effect.
  ///
  /// The budget then no longer bounds what is resident: a huge page, 2 MB for most, is made resident as a whole for
  /// whichever buffer touches it first. Benchmarks/System/README.md says by how much. Small parts of one that are given back may
  /// stay with the process until the system needs memory. Best for few buffers of many megabytes.
  public var usesHugePages: Bool {
    get { core.read { core.arena.usesHugePages } }
    set { core.locked { _ in self.core.arena.useHugePages(newValue) } }
  }
}
