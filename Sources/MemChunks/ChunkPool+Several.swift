import CMemChunks
import ChunkLedger

extension ChunkPool {
  /// Runs `body` with several chunks ready at once: all of them or none.
  ///
  /// Room for all that are missing is promised together, so nobody holds one while waiting for another. If it cannot
  /// be had, the request waits holding none of them, or is refused.
  ///
  /// - Throws: `ChunkError`, or what `body` throws.
  public func withReady<R>(
    _ chunks: [MemChunk], waitingUpTo limit: Duration? = nil, _ body: () throws -> R
  ) throws -> R {
    let chunks = core.distinct(chunks)
    guard !chunks.isEmpty else { return try body() }
    for chunk in chunks { chunk.countUse() }
    let request = try core.obtain(Few(chunks), .scope, limit)
    return try request.runScope(body)
  }

  /// Pins several chunks at once, all or none; see `withReady(_:)` and `pin()`.
  public func pin(_ chunks: [MemChunk], waitingUpTo limit: Duration? = nil) throws(ChunkError) -> PinSet {
    let chunks = core.distinct(chunks)
    guard !chunks.isEmpty else { return PinSet([], lanes: []) }
    for chunk in chunks { chunk.countUse() }
    let request = try core.obtain(Few(chunks), .token, limit)
    return PinSet(chunks, lanes: Array(request.lanes))
  }
}

extension PoolCore {
  /// Each chunk once, in the order given; all must belong to this pool.
  func distinct(_ chunks: [MemChunk]) -> [MemChunk] {
    var seen = Set<ObjectIdentifier>()
    return chunks.filter { chunk in
      precondition(chunk.core === self, "\(Labels.quoted(chunk.label)) belongs to another pool")
      return seen.insert(ObjectIdentifier(chunk)).inserted
    }
  }
}

extension MemChunk {
  /// Counts a use and stamps it, without asking whether the product is ready.
  final func countUse() {
    touch()
    word.wrappingAdd(ChunkWord.oneUse, ordering: .acquiringAndReleasing)
  }
}

extension Request {
  /// Runs `body` while the request's chunks are held as scopes by this thread.
  func runScope<R>(_ body: () throws -> R) rethrows -> R {
    mc_thread_current()!.pointee.scopes &+= UInt32(chunks.count)
    defer { for (chunk, lane) in zip(chunks, lanes) { chunk.leaveScope(UInt64(lane)) } }
    return try body()
  }
}
