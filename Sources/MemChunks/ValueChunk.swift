import Synchronization

/// A chunk whose product is a value that a closure makes.
///
///     let layout = ValueChunk(in: pool, size: 40_000) { try layoutText(story) }
///     let lines = try layout.withReady { $0.lineCount }
///
/// It can keep an old value for those who are using it while a new one is made.
public final class ValueChunk<Value: Sendable>: MemChunk, @unchecked Sendable {
  /// How the value is made, and how big it is. An object, so that size and closure change together.
  private final class Recipe: Sendable {
    let size: Int
    let peak: Int
    let make: @Sendable () throws -> Value

    init(_ size: Int, _ peak: Int, _ make: @escaping @Sendable () throws -> Value) {
      self.size = size
      self.peak = peak
      self.make = make
    }
  }

  private let recipeLock = Lock()
  private var recipe: Recipe
  // Written only while generating or freeing, read only by users of the lane: the word orders the two.
  private var first: Value?
  private var second: Value?

  /// Makes an empty chunk.
  ///
  /// - Parameters:
  ///   - size: bytes of the value. The pool believes it, but throws `ChunkError.invalidSize` where it cannot be.
  ///   - workingPeak: bytes while it is made, where that is more; nil for `size`, and so is less than it.
  ///   - generate: makes the value. Runs without any lock held, never twice at once.
  public init(
    in pool: ChunkPool, group: ChunkGroup? = nil, label: String = "", size: Int, workingPeak: Int? = nil,
    generate: @escaping @Sendable () throws -> Value
  ) {
    recipe = Recipe(size, workingPeak ?? size, generate)
    super.init(in: pool, group: group, label: label)
  }

  /// Bytes of the value, as declared last.
  public override var size: Int { current.size }

  /// Bytes while the value is made, as declared last.
  public override var workingPeak: Int { current.peak }

  /// Changes what the value is made from, and how big it is. Who is using the old value keeps it; the next use makes
  /// the new one.
  public func update(size: Int, workingPeak: Int? = nil, generate: @escaping @Sendable () throws -> Value) {
    let new = Recipe(size, workingPeak ?? size, generate)
    // The old recipe may hold the last reference to something; it goes after the lock.
    _ = recipeLock.withLock { () -> Recipe in
      let old = recipe
      recipe = new
      return old
    }
    invalidate()
  }

  /// Runs `body` with the value, and keeps it until `body` ends; see `MemChunk.withReady(_:)`.
  public func withReady<R>(waitingUpTo limit: Duration? = nil, _ body: (borrowing Value) throws -> R) throws -> R {
    let lane = try enterScope(limit)
    defer { leaveScope(lane) }
    return try body(value(in: Int(lane)))
  }

  /// Runs `body` with the value; suspends while it is made. `body` is synchronous: to hold the value across an
  /// `await`, use `pin()`.
  ///
  /// A limit is for waiting, for room or for another's generation: what is generated for this use itself is not cut off by
  /// it. Cancelling the task ends the use at any time.
  public func withReady<R>(
    waitingUpTo limit: Duration? = nil, _ body: @Sendable (borrowing Value) throws -> R
  ) async throws -> R {
    try await withScope(limit) { try body(value(in: $0)) }
  }

  func value(in lane: Int) -> Value { lane == 0 ? first! : second! }

  private var current: Recipe { recipeLock.withLock { recipe } }

  override var laneCount: Int { 2 }

  override func quote() -> ChunkQuote {
    let recipe = current
    return ChunkQuote(size: recipe.size, peak: recipe.peak, recipe: recipe)
  }

  override func settledSize(_ quote: ChunkQuote) -> Int { quote.size }

  override func generateProduct(in lane: Int, _ quote: ChunkQuote) throws {
    let value = try (quote.recipe as! Recipe).make()
    if lane == 0 { first = value } else { second = value }
  }

  override func freeProduct(in lane: Int) {
    if lane == 0 { first = nil } else { second = nil }
  }
}

extension Pin {
  /// The value that is held: the old one, where the chunk has been invalidated since.
  public func value<Value>() -> Value where Chunk == ValueChunk<Value> { chunk.value(in: lane) }
}
