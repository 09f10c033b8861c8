import CMemChunks
import Synchronization

/// A chunk of bytes that the pool itself owns, recycles and accounts for to the page.
///
///     let photo = BufferChunk(in: pool, size: 4 * 1200 * 800) { bytes in try decode(file, into: &bytes) }
///     try photo.withBytes { span in draw(span) }
///
/// The bytes lie in the pool's arena: a freed buffer's pages serve the next one, and what is resident cannot exceed the
/// budget. A buffer counts whole pages. Its bytes begin at a page and are not cleared.
///
/// It can keep old bytes for those who are using them while new ones are made.
public final class BufferChunk: MemChunk, @unchecked Sendable {
  /// Fills the bytes, all of them.
  public typealias Generator = @Sendable (_ bytes: inout MutableRawSpan) throws -> Void

  /// How the bytes are made, and how many they are. An object, so that size and closure change together.
  private final class Recipe: Sendable {
    let byteCount: Int
    let peak: Int
    let fill: Generator

    init(_ byteCount: Int, _ peak: Int, _ fill: @escaping Generator) {
      self.byteCount = byteCount
      self.peak = peak
      self.fill = fill
    }
  }

  /// A lane's memory while it is generating or ready.
  private struct Bytes {
    var base: UnsafeMutableRawPointer?
    var count = 0
    /// Not resident, or not all of it, before it is filled.
    var isFresh = false
  }

  private let recipeLock = Lock()
  private var recipe: Recipe
  // Written only while generating or freeing, read only by users of the lane: the word orders the two.
  private var first = Bytes()
  private var second = Bytes()

  /// Makes an empty chunk.
  ///
  /// - Parameters:
  ///   - size: how many bytes. Where it cannot be, the use throws `ChunkError.invalidSize`.
  ///   - workingPeak: bytes in all while they are made, where that is more; nil for `size`, and so is less than it. What is
  ///     above `size` is not in the arena: it stands for the generator's own scratch.
  ///   - generate: fills the bytes. Runs without any lock held, never twice at once.
  public init(
    in pool: ChunkPool, group: ChunkGroup? = nil, label: String = "", size: Int, workingPeak: Int? = nil,
    generate: @escaping Generator
  ) {
    recipe = Recipe(size, workingPeak ?? size, generate)
    super.init(in: pool, group: group, label: label)
  }

  /// How many bytes, as declared last. What is counted is this in whole pages.
  public override var size: Int { current.byteCount }

  /// Bytes in all while they are made, as declared last.
  public override var workingPeak: Int { current.peak }

  /// Changes what the bytes are made from, and how many they are. Who is using the old bytes keeps them; the next use
  /// makes the new ones.
  public func update(size: Int, workingPeak: Int? = nil, generate: @escaping Generator) {
    let new = Recipe(size, workingPeak ?? size, generate)
    // The old recipe may hold the last reference to something; it goes after the lock.
    _ = recipeLock.withLock { () -> Recipe in
      let old = recipe
      recipe = new
      return old
    }
    invalidate()
  }

  /// Runs `body` with the bytes, and keeps them until `body` ends.
  ///
  /// A hit takes no lock and allocates nothing.
  ///
  /// - Throws: `ChunkError`, or what `body` throws.
  public func withBytes<R>(waitingUpTo limit: Duration? = nil, _ body: (RawSpan) throws -> R) throws -> R {
    let lane = try enterScope(limit)
    defer { leaveScope(lane) }
    return try withSpan(in: Int(lane), body)
  }

  /// Runs `body` with the bytes; suspends while they are made. `body` is synchronous: to hold the bytes across an
  /// `await`, use `pin()`.
  ///
  /// A limit is for waiting, for room or for another's generation: what is generated for this use itself is not cut off by
  /// it. Cancelling the task ends the use at any time.
  public func withBytes<R>(
    waitingUpTo limit: Duration? = nil, _ body: @Sendable (RawSpan) throws -> R
  ) async throws -> R {
    try await withScope(limit) { try withSpan(in: $0, body) }
  }

  /// Runs `body` with a lane's bytes. The caller is a user of the lane.
  func withSpan<R>(in lane: Int, _ body: (RawSpan) throws -> R) rethrows -> R {
    let bytes = lane == 0 ? first : second
    return try body(RawSpan(_unsafeStart: bytes.base ?? Self.nowhere, byteCount: bytes.count))
  }

  /// Where empty buffers begin: somewhere that is never read.
  private static var nowhere: UnsafeMutableRawPointer { UnsafeMutableRawPointer(bitPattern: 4_096)! }

  private var current: Recipe { recipeLock.withLock { recipe } }

  override var laneCount: Int { 2 }

  override func quote() -> ChunkQuote {
    let recipe = current
    let possible = 0...ByteCount.most
    guard possible.contains(recipe.byteCount), possible.contains(recipe.peak) else {
      // Refused by whoever reads the quote, in the caller's numbers.
      return ChunkQuote(size: recipe.byteCount, peak: recipe.peak)
    }
    let page = mc_page_size()
    let size = (recipe.byteCount + page - 1) / page * page
    let scratch = max(0, recipe.peak - recipe.byteCount)
    return ChunkQuote(size: size, peak: size + scratch, arenaBytes: size, recipe: recipe)
  }

  override func settledSize(_ quote: ChunkQuote) -> Int { quote.size }

  override func place(_ memory: UnsafeMutableRawPointer, isFresh: Bool, in lane: Int) {
    let bytes = Bytes(base: memory, count: 0, isFresh: isFresh)
    if lane == 0 { first = bytes } else { second = bytes }
  }

  override func generateProduct(in lane: Int, _ quote: ChunkQuote) throws {
    let recipe = quote.recipe as! Recipe
    let memory = lane == 0 ? first : second
    // All of it will be written.
    if memory.isFresh { mc_populate_pages(memory.base, quote.arenaBytes) }
    let base = memory.base ?? Self.nowhere
    var span = MutableRawSpan(_unsafeStart: base, byteCount: recipe.byteCount)
    try recipe.fill(&span)
    let bytes = Bytes(base: base, count: recipe.byteCount)
    if lane == 0 { first = bytes } else { second = bytes }
  }

  override func freeProduct(in lane: Int) {
    if lane == 0 { first = Bytes() } else { second = Bytes() }
  }
}

extension Pin where Chunk == BufferChunk {
  /// Runs `body` with the bytes that are held: the old ones, where the chunk has been invalidated since.
  public func withBytes<R>(_ body: (RawSpan) throws -> R) rethrows -> R { try chunk.withSpan(in: lane, body) }
}
