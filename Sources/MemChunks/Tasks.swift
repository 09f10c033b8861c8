import CMemChunks
import ChunkLedger

// Uses by tasks. A task never blocks a thread: its request waits in the pool's queue without one, and what must run -
// frees, generations - runs on threads that the pool owns.
extension MemChunk {
  /// Makes the product ready; suspends while it is generated. See the synchronous form for what that promises.
  ///
  /// A limit is for waiting, for room or for another's generation: what is generated for this use itself is not cut off by
  /// it. Cancelling the task ends the use at any time.
  public final func ensureReady(waitingUpTo limit: Duration? = nil) async throws {
    touch()
    let old = word.wrappingAdd(ChunkWord.oneUse, ordering: .acquiringAndReleasing).oldValue
    if old & ChunkWord.touchMask == ChunkWord.ready || hitIsWatched(old) { return }
    _ = try await core.obtainForTask(.one(self), .touch, limit)
  }

  /// Runs `body` with the product ready; suspends while it is generated.
  ///
  /// `body` is synchronous and runs in the calling task. To hold the product across an `await`, use `pin()`.
  ///
  /// A limit is for waiting, for room or for another's generation: what is generated for this use itself is not cut off by
  /// it. Cancelling the task ends the use at any time.
  public final func withReady<R>(
    waitingUpTo limit: Duration? = nil, _ body: @Sendable () throws -> R
  ) async throws -> R {
    try await withScope(limit) { _ in try body() }
  }

  final func withScope<R>(_ limit: Duration?, _ body: (Int) throws -> R) async throws -> R {
    if let lane = tryEnterScope() {
      defer { leaveScope(lane) }
      return try body(Int(lane))
    }
    let request = try await core.obtainForTask(.one(self), .scope, limit)
    return try request.runScope { try body(request.lanes[0]) }
  }

  /// Whether anybody still wants the product that is being generated.
  ///
  /// To be asked inside `generate()`, now and then when that takes long: false when all tasks that waited for it were
  /// cancelled. Then `generate()` may throw and save the work.
  public final var isWanted: Bool {
    core.read {
      guard let generation = books.generation else { return true }
      return generation.isLent || !generation.work.request.isAbandoned || !generation.joiners.isEmpty
    }
  }
}

extension ChunkPool {
  /// Runs `body` with several chunks ready at once, all or none; suspends while they are generated.
  ///
  /// A limit is for waiting, for room or for another's generation: what is generated for this use itself is not cut off by
  /// it. Cancelling the task ends the use at any time.
  public func withReady<R>(
    _ chunks: [MemChunk], waitingUpTo limit: Duration? = nil, _ body: @Sendable () throws -> R
  ) async throws -> R {
    let chunks = core.distinct(chunks)
    guard !chunks.isEmpty else { return try body() }
    for chunk in chunks { chunk.countUse() }
    let request = try await core.obtainForTask(Few(chunks), .scope, limit)
    return try request.runScope(body)
  }

  /// Pins several chunks at once, all or none; suspends while they are generated.
  ///
  /// A limit is for waiting, for room or for another's generation: what is generated for this use itself is not cut off by
  /// it. Cancelling the task ends the use at any time.
  public func pin(_ chunks: [MemChunk], waitingUpTo limit: Duration? = nil) async throws -> PinSet {
    let chunks = core.distinct(chunks)
    guard !chunks.isEmpty else { return PinSet([], lanes: []) }
    for chunk in chunks { chunk.countUse() }
    let request = try await core.obtainForTask(Few(chunks), .token, limit)
    return PinSet(chunks, lanes: Array(request.lanes))
  }
}

extension PoolCore {
  /// Obtains chunks for the current task, which suspends meanwhile.
  ///
  /// Cancelling the task ends the wait with `cancelled`; a generation that it waited for goes on for the others.
  func obtainForTask(_ chunks: Few<MemChunk>, _ purpose: Request.Purpose, _ limit: Duration?) async throws -> Request {
    if isForked { throw ChunkError.poolClosed(label: chunks.first?.label ?? "", afterFork: true) }
    let request = Request(chunks, purpose, thread: nil, deadline: limit.map { deadline(in: $0) })
    request.quoteSizes(self)
    let timer = limit.map { limit in
      Task {
        // The limit itself may be longer than a task can sleep.
        try await Task.sleep(for: .nanoseconds(Int64(limit.nanoseconds)))
        self.endWait(of: request)
      }
    }
    defer { timer?.cancel() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        locked { after in
          request.continuation = continuation
          // Cancelled before it could be answered.
          guard !request.isDecided else { return after.answered.append(request) }
          let step = self.firstStep(request, &after)
          if case .wait = step { return }
          self.drive(task: request, step, &after)
        }
      }
    } onCancel: {
      giveUp(request)
    }
    // What was written for the answer, under the lock, comes before what the task reads of it. The resumption orders them
    // too, but the thread sanitizer does not see that.
    lock.withLock {}
    return request
  }

  /// Goes on with a task's request: what needs a thread becomes a job. Under the lock.
  func drive(task request: Request, _ step: Request.Step, _ after: inout Aftermath) {
    switch step {
    case .wait: return
    case .ready, .failed:
      guard !request.isDecided else { return }
      request.isDecided = true
      request.delivered = step
      after.answered.append(request)
    case .work: enqueue(Job(.work) { self.work(on: request, step) }, &after)
    case .quote, .drain, .workAhead:
      request.place = .job
      enqueue(Job(.use) { self.work(on: request, step) }, &after)
    }
  }

  /// A worker's part of a task's request.
  private func work(on request: Request, _ first: Request.Step) {
    var next = first
    if case .work(let work) = first {
      Waits.take(work, mc_thread_current()!)
      next = run(work)
    } else {
      let isWanted = lock.withLock {
        leavePlace(request)
        return !request.isDecided
      }
      guard isWanted else { return }
      if !read({ isClosed }) { request.quoteSizes(self) }
      next = locked { self.step(request, &$0) }
    }
    locked { self.drive(task: request, next, &$0) }
  }

  /// The task was cancelled.
  private func giveUp(_ request: Request) {
    locked { self.answer(request, .cancelled(label: request.label, atDeadline: false), &$0) }
  }

  /// The task's deadline passed. That ends what it waits for, and nothing that is done on its behalf.
  private func endWait(of request: Request) {
    locked { after in
      if case .nowhere = request.place {
        request.isOutOfTime = true
      } else {
        let error = self.outOfTime(request)
        self.note(refused: error, request, &after)
        self.answer(request, error, &after)
      }
    }
  }

  /// Nobody waits for the request any more. What it holds is let go of, even if a worker is still busy with it: nobody takes
  /// it, and somebody may wait for it.
  private func answer(_ request: Request, _ error: ChunkError, _ after: inout Aftermath) {
    guard !request.isDecided else { return }
    request.isDecided = true
    request.isAbandoned = true
    leavePlace(request)
    request.delivered = .failed(error)
    after.answered.append(request)
    unholdAll(request, &after)
    serve(&after)
  }
}

extension Request {
  /// Resumes the task, once. Without the lock.
  func answer() {
    let (continuation, step) = chunks[0].core.lock.withLock { () -> (CheckedContinuation<Void, any Error>?, Step?) in
      defer { self.continuation = nil }
      return (self.continuation, delivered)
    }
    guard let continuation else { return }
    switch step {
    case .failed(let error): continuation.resume(throwing: error)
    default: continuation.resume()
    }
  }
}
