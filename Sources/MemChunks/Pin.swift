/// Holds a chunk's product: it stays ready until the token goes.
///
/// A pin belongs to no thread and may cross an `await`. Because whoever asks may be holding it, nobody waits
/// for what only tokens hold, unless a deadline is given.
///
/// Any number of pins and scopes may hold one chunk. Up to 32 767 at once begin and end without a lock; of more, some take
/// it.
///
/// `let _ = try chunk.pin()` lets go at once: bind the token to a name that lives as long as the product is needed.
public struct Pin<Chunk: MemChunk>: ~Copyable, Sendable {
  /// The chunk that is held.
  public let chunk: Chunk
  let lane: Int

  init(_ chunk: Chunk, lane: Int) {
    self.chunk = chunk
    self.lane = lane
  }

  deinit { chunk.leaveToken(lane) }

  /// Lets go now.
  public consuming func unpin() {}
}

/// Holds several chunks at once; see `Pin`.
public struct PinSet: ~Copyable, Sendable {
  /// The chunks that are held.
  public let chunks: [MemChunk]
  private let lanes: [Int]

  init(_ chunks: [MemChunk], lanes: [Int]) {
    self.chunks = chunks
    self.lanes = lanes
  }

  deinit { for (chunk, lane) in zip(chunks, lanes) { chunk.leaveToken(lane) } }

  /// Lets go of all of them now.
  public consuming func unpin() {}
}

/// What can be pinned: every chunk. A protocol, because only its extension can name the chunk's own class.
public protocol Pinnable: MemChunk {}

extension MemChunk: Pinnable {}

extension Pinnable {
  /// Makes the product ready and holds it until the token goes.
  ///
  ///     let pin = try photo.pin()
  ///     await upload(pin)
  ///
  /// A hit takes no lock and allocates nothing. A miss generates, but does not wait for room that pins hold unless
  /// `limit` says how long.
  public func pin(waitingUpTo limit: Duration? = nil) throws(ChunkError) -> Pin<Self> {
    Pin(self, lane: try enterToken(limit))
  }

  /// Makes the product ready and holds it until the token goes. Suspends while it is generated; never blocks a thread of
  /// the cooperative pool.
  ///
  /// A limit is for waiting, for room or for another's generation: what is generated for this use itself is not cut off by
  /// it. Cancelling the task ends the use at any time.
  public func pin(waitingUpTo limit: Duration? = nil) async throws -> Pin<Self> {
    if let lane = tryEnterToken() { return Pin(self, lane: lane) }
    let request = try await core.obtainForTask([self], .token, limit)
    return Pin(self, lane: request.lanes[0])
  }
}
