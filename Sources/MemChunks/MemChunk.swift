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
///     try glass.withReady { draw(glass.pixels) }
///
/// That is the whole idea. `ValueChunk` and `BufferChunk` do it with a closure, without a subclass. The rest of this
/// comment is how a use stays cheap, and what a subclass must know.
///
/// **Words.** A *use* asks for the product: a *hit* finds it ready, a *miss* does not. `ensureReady()` only asks; its
/// use is over when it returns. `withReady(_:)` *holds* the product until a closure ends (a *scope*), `pin()` until a
/// token goes; only what is held is *in use*. A *frame*, `ChunkPool.frame`, protects all that was used since it began.
///
/// **A hit takes no lock.** Everything a hit needs lies in one atomic `word` (see `ChunkWord`): whether the
/// product is ready, how many hold it, how often it was asked for. A use writes its recency stamp, then adds itself
/// to the word. If the word said "ready", that was all. If not, it takes its hold back, though not its
/// count, and becomes a miss: `PoolCore.obtain`.
///
/// **A miss** takes the pool's lock and looks again. If another thread is generating the chunk, it waits for that, and
/// gets the same product or the same error. Else it claims victims, least recently used first, until there is room for
/// the chunk; then, with the lock open, it frees them and generates. What is in use or in a frame is passed over. If
/// the rest is not enough, nothing is freed: the use waits for the end of other uses, or throws
/// `ChunkError.noRoom` at once where it is not certain that they end without it.
///
/// **Freeing is a claim on the word.** The pool makes a chunk its victim by clearing "ready" in one
/// compare-exchange, which fails when anybody holds the product. The stamp is written *before* the word, and the pool
/// reads it *after* the claim: whichever comes second sees the other, so no chunk is freed to make room that is in use,
/// or was used after the pool chose it. All changes of the word are read-modify-write, never plain stores.
///
/// **What is counted.** From the moment room is promised: the larger of `size` and `workingPeak`. Once generated:
/// `size`, as it is then. Nothing more once `free()` has returned. The count never exceeds the budget, unless the
/// budget is lowered under what is in use. The pool believes `size`; memory beyond it is in no count.
///
/// **Rules for a subclass.**
/// - `size`, `workingPeak`, `generate()` and `free()` run without the pool's lock and may use the pool, but on any
///   thread and in the middle of any call that uses it, also at the end of a scope. So they must not take a lock that
///   somebody holds while using the pool.
/// - `generate()` and `free()` of one chunk never overlap, and neither runs while that product is held. `size` and
///   `workingPeak` may be asked by several threads at once, also while `generate()` runs, and must stand that.
/// - `generate()` may use other chunks, best by `withReady(_:)`; chunks that need each other in a ring get an error. If
///   it throws, it must have cleaned up: `free()` is not called. In `free()` nothing waits, so a miss there may be
///   refused.
/// - `free()` is called once for every `generate()` that returned, unless `detachProduct()` takes its place. When the
///   pool goes: at once, or when the product is let go. When the last reference to the chunk goes: after the subclass's
///   own `deinit` body. So `deinit` must not release the product, and nothing that outlives `free()` may keep `self`.
open class MemChunk: @unchecked Sendable {
  /// What the chunk is called in errors, tables and traces.
  public final let label: String
  /// The chunks it belongs with; through it, its pool.
  public final let group: ChunkGroup

  @usableFromInline final let word = Atomic<UInt64>(0)
  @usableFromInline final let stamp = Atomic<UInt64>(0)
  /// The pool's recency clock; lives as long as the pool's core, which the group keeps alive.
  @usableFromInline final let clock: UnsafeMutablePointer<Atomic<UInt64>>
  /// How many of those who hold the product are pin tokens: they may last as long as somebody likes.
  final let tokens = Atomic<UInt32>(0)
  /// What the chunk is called where requests are listened to; 0 where nobody did yet. Given under the pool's lock, before
  /// the word says that hits are watched. Here and not in the books, where it would take memory and a line more.
  @exclusivity(unchecked) final var number: UInt32 = 0
  /// Users that no longer fit in the word, guarded by the pool's lock. Beside the books, where it takes no more memory.
  @exclusivity(unchecked) final var folds = UserFolds()
  /// Everything else that the pool remembers of this chunk, guarded by the pool's lock.
  @exclusivity(unchecked) final var books = ChunkBooks()

  /// Makes an empty chunk. Costs the pool nothing until it is first used.
  ///
  /// - Parameters:
  ///   - pool: the pool whose budget it counts in. The chunk does not keep it alive; once it is gone, a miss throws.
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

  /// How many bytes the product takes. Asked at each miss, when there is no product yet, and once after `generate()`.
  ///
  /// It may use other chunks. One that leads back to this chunk's own size gets `ChunkError.recursive`.
  ///
  /// The first answer may be an estimate; the second is what counts until the product is freed. Where it is more than
  /// was promised, room for the rest is made without waiting; if there is none, the product is freed again and
  /// the use throws.
  open var size: Int { 0 }

  /// How many bytes it takes in all *while* it is generated, where that is more than `size`: the product and a
  /// decoder's scratch together. Room for it is made before `generate()`, and what is above `size` is given back after.
  /// Less than `size` means `size`.
  open var workingPeak: Int { size }

  /// Makes the product. Room for it has been made. What it throws arrives as `ChunkError.generationFailed` at all who
  /// waited; the next use tries again.
  open func generate() throws {}

  /// Lets the product go. Its bytes leave the count when this returns; see `deferFree()` for memory that
  /// comes back later.
  open func free() {}

  /// For memory that only one thread may free, in a group bound to it by `ChunkGroup.bindToCurrentThread`: what frees
  /// the product when the chunk itself is gone.
  ///
  /// Asked when the last reference goes on another thread while there is a product. The closure runs later, on the
  /// bound thread, instead of `free()`, and must not need the chunk. Nil, the default: `free()` is called at once on
  /// the wrong thread, so chunks of a bound group should override this.
  open func detachProduct() -> (@Sendable () -> Void)? { nil }

  // MARK: Use

  /// Makes the product ready, and counts as a use of it.
  ///
  /// Nothing holds the product after that. Inside a frame it stays until the frame ends, unless it is invalidated.
  /// Outside, on a single thread, it stays until the next miss or other call that frees. Where other threads use the
  /// pool, and a prefetch is one, it may be gone on return: use `withReady(_:)`.
  ///
  /// A hit takes no lock and allocates nothing.
  ///
  /// - Parameter limit: how long to wait, at most, for room or for another thread that generates the chunk; generating
  ///   it here is not waiting. Nil, the default: as long as it is certain that the wait will end; where it is not,
  ///   throws at once.
  /// - Throws: `ChunkError`.
  @inlinable
  public final func ensureReady(waitingUpTo limit: Duration? = nil) throws(ChunkError) {
    touch()
    let old = word.wrappingAdd(ChunkWord.oneUse, ordering: .acquiringAndReleasing).oldValue
    if old & ChunkWord.touchMask == ChunkWord.ready || hitIsWatched(old) { return }
    try obtain(.touch, limit)
  }

  /// Runs `body` with the product ready, and holds it until `body` ends, also where it is invalidated meanwhile.
  ///
  /// A hit takes no lock and allocates nothing; its end takes the lock if somebody waits for it, and may then free.
  /// Inside `body`, a use that finds no room throws `ChunkError.noRoom` instead of waiting, unless given a limit:
  /// others may be waiting for this scope. To have several chunks at once, use `ChunkPool.withReady(_:waitingUpTo:_:)`.
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

  // MARK: For ValueChunk and BufferChunk, which can keep two products at once

  /// How many products there is a place for: a lane is such a place. With two, `invalidate()` lets those who hold the
  /// old product keep it while a new one is generated. A subclass outside this module has one, its own fields: there
  /// the next use must wait until the old product is let go.
  var laneCount: Int { 1 }

  /// What is asked of the chunk before room is made: read without the lock, used with it.
  func quote() -> ChunkQuote { ChunkQuote(size: size, peak: workingPeak) }

  /// The memory for a lane, from the pool's own pages (its arena), given before `generateProduct`. Fresh memory is not
  /// resident yet, or not all of it.
  func place(_ memory: UnsafeMutableRawPointer, isFresh: Bool, in lane: Int) {}

  func generateProduct(in lane: Int, _ quote: ChunkQuote) throws { try generate() }
  func freeProduct(in lane: Int) { free() }

  /// The size after generating, in bytes.
  func settledSize(_ quote: ChunkQuote) -> Int { size }
}

extension MemChunk {
  final var core: PoolCore { group.core }
}
