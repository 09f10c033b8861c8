public import Synchronization

/// A piece of memory that can be freed and generated again.
///
/// A subclass says how big it is, how to generate itself and how to free itself; the pool keeps
/// all chunks together within one budget. Whoever needs a chunk says so; if there is no room, the pool
/// frees the chunks that have not been used for longest, and then generates:
///
///     final class Glass: MemChunk, @unchecked Sendable {
///       private(set) var pixels: [UInt32] = []
///       override var size: Int { 131_072 }
///       override func generate() { pixels = drawGlass() }
///       override func free() { pixels = [] }
///     }
///
///     let glass = Glass(in: pool, label: "glass")
///     try glass.ensureReady()
///
/// That is the whole idea. The rest of this file is how a use stays cheap.
///
/// **A hit takes no lock.** Everything a hit needs lies in one atomic `word` (see `ChunkWord`): whether the
/// product is ready, how many are using it, how often it was used. A use writes its recency stamp, then adds itself
/// to the word. If the word said "ready", that was all. If not, the use takes itself back and asks the
/// pool, which looks again under its lock: `PoolCore.obtain`.
///
/// **Freeing is a claim on the word.** The pool makes a chunk its victim by clearing "ready" in one
/// compare-exchange, which fails when anybody is using it. The stamp is written *before* the word, and the pool
/// reads it *after* the claim: whichever comes second sees the other, so a chunk in use, or used since the
/// pool looked, is never freed. All changes of the word are read-modify-write, never plain stores.
///
/// **Rules for a subclass.** `size`, `generate()` and `free()` run without any lock held and may use the pool.
/// `generate()` and `free()` are never called twice at once on one chunk, and `free()` is called once
/// for every `generate()` that returned, also when the last reference to the chunk or to the pool goes: then after
/// the subclass's own `deinit` body, which must not release the product itself. If `generate()`
/// throws, it must have cleaned up after itself.
open class MemChunk: @unchecked Sendable {
  /// What the chunk is called in errors, tables and traces.
  public final let label: String
  /// The chunks it belongs with; through it, its pool.
  public final let group: ChunkGroup

  @usableFromInline final let word = Atomic<UInt64>(0)
  @usableFromInline final let stamp = Atomic<UInt64>(0)
  /// The pool's recency clock; lives as long as the pool's core, which the group keeps alive.
  @usableFromInline final let clock: UnsafeMutablePointer<Atomic<UInt64>>
  /// How many of the uses in the word are pin tokens: they may last as long as somebody likes.
  final let tokens = Atomic<UInt32>(0)
  /// Everything else that the pool remembers of this chunk, guarded by the pool's lock.
  @exclusivity(unchecked) final var books = ChunkBooks()

  /// Makes an empty chunk. Costs the pool nothing until it is first used.
  ///
  /// - Parameters:
  ///   - pool: the pool whose budget it counts in. The chunk does not keep the handle alive.
  ///   - group: the chunks it belongs with; nil for the pool's own group, which has no limit.
  ///   - label: what to call it in errors and tables.
  public init(in pool: ChunkPool, group: ChunkGroup? = nil, label: String = "") {
    precondition(group == nil || group!.core === pool.core, "the group belongs to another pool")
    self.group = group ?? pool.ownGroup
    self.label = label
    self.clock = pool.core.clock
  }

  deinit {
    if books.hasSlot { core.lastReferenceIsGoing(self) }
  }

  // MARK: What a subclass says

  /// How many bytes the product takes, in bytes; asked before `generate()` and again after it.
  ///
  /// The pool counts what it was told last, and never asks again to give it back.
  open var size: Int { 0 }

  /// How many bytes it takes *while* it is generated, where that is more than `size`: a decoder's
  /// scratch. Room for it is made before `generate()`, and what is above `size` is given back after.
  open var workingPeak: Int { size }

  /// Makes the product. Room for it has been made.
  open func generate() throws {}

  /// Lets the product go. Its bytes leave the count when this returns; see `deferFree()` for memory that
  /// comes back later.
  open func free() {}

  /// What must run on the bound thread to let the product go when the chunk itself is gone.
  ///
  /// Asked only of chunks in a group that is bound to a thread, when the last reference goes on another
  /// thread while the product is ready: the closure must not need the chunk. Nil, the default: `free()` is called
  /// at once, on the thread that dropped it.
  open func detachProduct() -> (@Sendable () -> Void)? { nil }

  // MARK: Use

  /// Makes the product ready, and counts as a use of it.
  ///
  /// On return the product is there until something else makes room: inside a frame until the
  /// frame ends, else until the next use of the pool. With several threads, use `withReady(_:)`, which keeps
  /// it for as long as a closure runs.
  ///
  /// A hit takes no lock and allocates nothing.
  ///
  /// - Parameter limit: how long to wait for room that others hold. Nil, the default: as long as it is
  ///   certain that the wait will end.
  /// - Throws: `ChunkError`.
  @inlinable
  public final func ensureReady(waitingUpTo limit: Duration? = nil) throws(ChunkError) {
    touch()
    let old = word.wrappingAdd(ChunkWord.oneUse, ordering: .acquiringAndReleasing).oldValue
    if old & ChunkWord.touchMask == ChunkWord.ready { return }
    try obtain(.touch, limit)
  }

  /// Runs `body` with the product ready, and keeps it ready until `body` ends.
  ///
  /// A hit takes no lock and allocates nothing. Inside `body`, making other chunks ready does not wait for
  /// room that pins hold; to have several at once, use `ChunkPool.withReady(_:_:)`.
  ///
  /// - Throws: `ChunkError`, or what `body` throws.
  @inlinable
  public final func withReady<R>(waitingUpTo limit: Duration? = nil, _ body: () throws -> R) throws -> R {
    let lane = try enterScope(limit)
    defer { leaveScope(lane) }
    return try body()
  }

  /// Whether the product is ready now. Looking is not a use: it does not change whose turn it is.
  public final var isReady: Bool { word.load(ordering: .acquiring) & ChunkWord.ready != 0 }

  // MARK: For chunks that keep two products at once

  /// Whether a new product can be generated while an old one is still in use. Chunks whose
  /// product lies in a subclass's fields have one lane; those that keep it for the subclass have two.
  var laneCount: Int { 1 }

  /// What is asked of the chunk before room is made: read without the lock, used with it.
  func quote() -> ChunkQuote { ChunkQuote(size: size, peak: workingPeak) }

  /// The arena's memory for a lane, given before `generateProduct`.
  func place(_ memory: UnsafeMutableRawPointer, in lane: Int) {}

  func generateProduct(in lane: Int, _ quote: ChunkQuote) throws { try generate() }
  func freeProduct(in lane: Int) { free() }

  /// The size after generating, in bytes.
  func settledSize(_ quote: ChunkQuote) -> Int { size }
}

extension MemChunk {
  final var core: PoolCore { group.core }
}
