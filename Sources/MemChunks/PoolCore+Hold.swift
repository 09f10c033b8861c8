import CMemChunks
import ChunkLedger
import Synchronization

// What a request holds for whoever asked, before they have the answer.
extension PoolCore {
  /// Adds the request as a user of chunks that are ready. Under the lock, so they stay ready.
  ///
  /// Nothing is held for a task that was cancelled: its worker would let go of it only some time after others saw the
  /// product, which they may want to be gone.
  func hold(_ request: Request, _ indices: some Sequence<Int>) {
    guard request.purpose.holds, !request.isAbandoned else { return }
    for index in indices {
      request.lanes[index] = hold(request.chunks[index], request.purpose)
      request.held.append(index)
    }
  }

  /// Adds one user to a chunk that is ready, or about to be; returns its lane.
  func hold(_ chunk: MemChunk, _ purpose: Request.Purpose) -> Int {
    let lane = ChunkWord.currentLane(chunk.word.load(ordering: .relaxed))
    if purpose == .token {
      chunk.tokens.wrappingAdd(1, ordering: .acquiringAndReleasing)
      noteToken(of: chunk, holds: true)
    }
    let now = chunk.word.wrappingAdd(ChunkWord.oneUser(UInt64(lane)), ordering: .acquiringAndReleasing).newValue
    // Many may have waited for the same product.
    if now & ChunkWord.usersGuards != 0 { chunk.relieveWord() }
    return lane
  }

  /// Takes back everything that the request holds: all or none.
  func unholdAll(_ request: Request, _ after: inout Aftermath) {
    let held = request.held
    request.held = .none
    for index in held {
      let chunk = request.chunks[index]
      let user = ChunkWord.oneUser(UInt64(request.lanes[index]))
      chunk.word.wrappingSubtract(user, ordering: .acquiringAndReleasing)
      if request.purpose == .token {
        chunk.tokens.wrappingSubtract(1, ordering: .acquiringAndReleasing)
        noteToken(of: chunk, holds: false)
      }
      noteEnd(of: chunk, request.lanes[index], &after)
    }
  }
}
