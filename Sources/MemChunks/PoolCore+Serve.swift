import CMemChunks
import ChunkLedger

// Waking those who wait: who changes something steps their requests, and hands them what is to be done.
extension PoolCore {
  /// Steps requests that wait for room, all that it could help: called whenever something changed that could let one go
  /// on, or must make it give up. Under the lock.
  func serve(_ after: inout Aftermath) {
    var turn: UInt64 = 0
    while !queue.isEmpty, let request = queue.next(after: turn, limit: limitOfLooks) {
      turn = request.turn
      let step = step(request, &after)
      if case .wait = step { continue }
      deliver(step, to: request, &after)
    }
  }

  /// Which of a line of waiting tasks are to be looked at; one of them speaks for all.
  private func limitOfLooks(in group: GroupIndex, _ one: Request) -> Int {
    if mustWaitForTurn(one) { return WaitingQueue.Limit.marked }
    // They must be told. What nobody can free concerns each of them differently.
    if !strandedGroups.isEmpty || hopelessness(of: one) != nil { return WaitingQueue.Limit.all }
    return WaitingQueue.Limit.refused(ledger.refusedBytes(in: group))
  }

  /// Hands a waiting request its next step. Under the lock.
  func deliver(_ step: Request.Step, to request: Request, _ after: inout Aftermath) {
    leavePlace(request)
    request.delivered = step
    if let parker = request.parker {
      parker.wake()
    } else {
      drive(task: request, step, &after)
    }
  }

  /// Looks anew at what a request that waits for a generation is to do. Under the lock.
  func restep(_ request: Request, _ after: inout Aftermath) {
    leavePlace(request)
    let next = step(request, &after)
    if case .wait = next { return }
    deliver(next, to: request, &after)
  }

  /// The calling thread is about to sleep. If it is generating, others that waited because it was running may have to
  /// give up now.
  func willSleep(_ thread: Thread, isGenerating: Bool) {
    if isGenerating {
      locked { self.serve(&$0) }
      for pool in Activity.pools(of: thread, besides: self) { pool.locked { pool.serve(&$0) } }
    }
    Self.workerWillSleep(thread)
  }

  /// The calling thread sleeps until its request gets a step.
  func park(_ request: Request) -> Request.Step {
    let thread = request.thread!
    willSleep(thread, isGenerating: !request.context.generating.isEmpty)
    defer { Self.workerWoke(thread) }
    while true {
      let (parker, limit) = lock.withLock { (request.parker!, request.patience ?? request.deadline) }
      // The clock is read once: it may pass the limit at any moment.
      let now = time()
      let isWoken = parker.sleep(atMost: limit.map { $0 > now ? $0 - now : 0 })
      let step = locked { self.wake(request, timedOut: !isWoken, &$0) }
      if let step { return step }
    }
  }

  /// What a thread does that has woken; nil to sleep again. Under the lock.
  private func wake(_ request: Request, timedOut: Bool, _ after: inout Aftermath) -> Request.Step? {
    if let step = request.delivered {
      request.delivered = nil
      return step
    }
    guard timedOut else { return nil }
    if request.patience != nil {
      request.patience = nil
      request.isOutOfPatience = true
      let step = step(request, &after)
      if case .wait = step { return nil }
      return step
    }
    let error = outOfTime(request)
    leavePlace(request)
    note(refused: error, request, &after)
    return .failed(error)
  }

  /// The error of a request whose deadline passed where it waits.
  func outOfTime(_ request: Request) -> ChunkError {
    if case .generation = request.place { return .cancelled(label: request.label, atDeadline: true) }
    return .noRoom(numbers(request, request.bytes, .deadline))
  }
}
