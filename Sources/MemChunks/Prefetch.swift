import CMemChunks
import ChunkLedger

extension ChunkPool {
  /// Makes chunks ready in the background, in order, as far as that costs nobody anything.
  ///
  ///     let prefetch = pool.prefetch(photosOfNextPage)
  ///     ...
  ///     let ready = await prefetch.readied
  ///
  /// It frees only what was used neither in this frame nor in the last, never what it has just made ready, and
  /// stops when that is gone. Requests of those who wait go first.
  @discardableResult
  public func prefetch(_ chunks: [MemChunk]) -> Prefetch {
    let prefetch = Prefetch(core.distinct(chunks))
    core.start(prefetch)
    return prefetch
  }
}

/// A prefetch that is under way, or done.
public final class Prefetch: @unchecked Sendable {
  let chunks: [MemChunk]
  private let lock = Lock()
  private var done: [MemChunk] = []
  private var isFinished = false
  private var isCancelled = false
  private var tasks: [CheckedContinuation<Void, Never>] = []
  private var threads: [Parker] = []

  init(_ chunks: [MemChunk]) {
    self.chunks = chunks
  }

  /// The chunks that it made ready, in order; suspends until the prefetch is done. Chunks that were ready already are
  /// not among them.
  public var readied: [MemChunk] {
    get async {
      await withCheckedContinuation { continuation in
        let isDone = lock.withLock { () -> Bool in
          if !isFinished { tasks.append(continuation) }
          return isFinished
        }
        if isDone { continuation.resume() }
      }
      return lock.withLock { done }
    }
  }

  /// Waits until the prefetch is done, and says what it made ready. Not for tasks: use `readied`.
  ///
  /// Inside `size`, `generate()`, `free()` and an observer it does not wait, because the prefetch may wait for those: there
  /// it says what is ready by then.
  @discardableResult
  public func wait() -> [MemChunk] {
    let isInsidePool = mc_thread_current()!.pointee.activity != nil
    let parker = lock.withLock { () -> Parker? in
      guard !isFinished, !isInsidePool else { return nil }
      let parker = Parker()
      threads.append(parker)
      return parker
    }
    _ = parker?.sleep(atMost: nil)
    return lock.withLock { done }
  }

  /// Stops after the chunk that is being made.
  public func cancel() { lock.withLock { isCancelled = true } }

  fileprivate var stops: Bool { lock.withLock { isCancelled } }

  fileprivate func add(_ chunk: MemChunk) { lock.withLock { done.append(chunk) } }

  fileprivate func finish() {
    let (tasks, threads) = lock.withLock { () -> ([CheckedContinuation<Void, Never>], [Parker]) in
      isFinished = true
      defer {
        self.tasks = []
        self.threads = []
      }
      return (self.tasks, self.threads)
    }
    for task in tasks { task.resume() }
    for thread in threads { thread.wake() }
  }
}

extension PoolCore {
  fileprivate func start(_ prefetch: Prefetch) {
    locked { after in
      let spares = min(RecencyClock.advance(self.clock), self.frames.sparedByPrefetch)
      self.enqueue(Job(.prefetch) { self.go(on: prefetch, at: 0, spares) }, &after)
    }
  }

  /// Readies the next chunk, then queues again behind what is more urgent.
  private func go(on prefetch: Prefetch, at start: Int, _ spares: UInt64) {
    var index = start
    while index < prefetch.chunks.count, prefetch.chunks[index].isReady { index += 1 }
    guard index < prefetch.chunks.count, !prefetch.stops, !read({ isClosed }) else { return prefetch.finish() }
    let chunk = prefetch.chunks[index]
    let request = Request(.one(chunk), .prefetch, thread: mc_thread_current()!)
    request.sparesUsesSince = spares
    do {
      try drive(request)
      prefetch.add(chunk)
    } catch .noRoom, .poolClosed {
      return prefetch.finish()
    } catch {
      // This one cannot be made; the next perhaps can.
    }
    let next = index + 1
    locked { self.enqueue(Job(.prefetch) { self.go(on: prefetch, at: next, spares) }, &$0) }
  }
}
