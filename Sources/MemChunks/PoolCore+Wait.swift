import CMemChunks
import ChunkLedger
import Synchronization

// Who may wait for what. The rule behind all of it: nobody waits for something that might be waiting for them.
extension PoolCore {
  /// Queues a request that found no room, or says why it must not wait.
  ///
  /// - Parameter forOldProduct: what is missing is not room but the chunk's only lane.
  func waitOrRefuse(_ request: Request, forOldProduct: Bool = false, _ after: inout Aftermath) -> Request.Step {
    if let reason = obstacle(to: request) ?? hopelessness(of: request) {
      let isLane = forOldProduct && reason != .insideFree && reason != .bestEffort && reason != .threadEnded
      return .failed(.noRoom(numbers(request, request.bytes, isLane ? .oldProductInUse : reason)))
    }
    return enqueue(request)
  }

  func enqueue(_ request: Request) -> Request.Step {
    if case .queue = request.place { return .wait }
    leavePlace(request)
    request.place = .queue
    let position = request.purpose == .prefetch ? queue.count : queue.firstIndex { $0.purpose == .prefetch }
    queue.insert(request, at: position ?? queue.count)
    prepareToSleep(request)
    return .wait
  }

  func prepareToSleep(_ request: Request) {
    guard let thread = request.thread else { return }
    if request.parker == nil { request.parker = Parker() }
    mc_thread_set_waiting(thread, true)
  }

  /// Why a request must not wait for room, whatever holds it.
  ///
  /// - Inside `free()` nothing waits: others wait for that free.
  /// - A scope or frame holds room that others may wait for, so it does not wait for theirs; only for frees that
  ///   are running, which end by themselves.
  /// - A generation holds its reservation. It waits only while another generation runs that is not itself waiting;
  ///   that one ends without it.
  func obstacle(to request: Request) -> ChunkError.NoRoom.Reason? {
    if request.context.isInsideFree { return .insideFree }
    guard request.purpose != .prefetch else { return .bestEffort }
    if request.deadline != nil || freesRunning > 0 { return nil }
    if request.context.holdsScopes { return .holdsOthers }
    if !request.context.generating.isEmpty, !isSomethingRunning(besides: request.thread) { return .holdsOthers }
    return nil
  }

  /// Why waiting would have no end that is certain: nothing runs that ends by itself.
  private func hopelessness(of request: Request) -> ChunkError.NoRoom.Reason? {
    if request.deadline == nil, isStranded(request) { return .threadEnded }
    if request.deadline != nil || freesRunning > 0 || isSomethingRunning(besides: request.thread) { return nil }
    if !request.context.generating.isEmpty { return .holdsOthers }
    // Who holds nothing may wait for a generation that waits itself, in another pool: nobody waits for who holds nothing.
    if works.contains(where: { Waits.thread(of: $0) != request.thread }) { return nil }
    // What a token holds may be held by whoever asks, so without a deadline it is not waited for.
    let waitsForPins = request.purpose != .token
    if waitsForPins, ledger.parkedScopes > 0 || frames.closures > 0 || ledger.freeing > strandedFrees { return nil }
    if waitsForPins, retired.contains(where: { table.isUsedByScope($0) }) { return nil }
    if table.dying > 0, !request.isOutOfPatience {
      // The thread that lets go of a chunk frees it in a moment - unless it is the one that asks, from that chunk's
      // deinit. There is no telling, so it is waited for, but not for long.
      if request.thread != nil, request.patience == nil {
        request.patience = time() &+ 100_000_000
        request.parker?.wake()
      }
      return nil
    }
    return ledger.ready > 0 || frames.isOpen ? .heldByTokens : .nothingToFree
  }

  /// Whether the request may have chunks freed that only another thread can free, and wait for that.
  func mayWaitForLateFrees(_ request: Request) -> Bool {
    if request.purpose == .prefetch || request.context.isInsideFree { return false }
    return request.deadline != nil || !request.context.holdsScopes && request.context.generating.isEmpty
  }

  private func isSomethingRunning(besides thread: Thread?) -> Bool {
    works.contains { work in
      guard let worker = Waits.thread(of: work) else { return true }
      return worker != thread && !mc_thread_is_waiting(worker)
    }
  }

  /// Takes a request from where it waits.
  func leavePlace(_ request: Request) {
    switch request.place {
    case .nowhere: return
    case .queue: queue.removeAll { $0 === request }
    case .generation(let generation):
      generation.joiners.removeAll { $0 === request }
      if let thread = request.thread { Waits.remove(thread) }
    }
    request.place = .nowhere
    request.patience = nil
    if let thread = request.thread { mc_thread_set_waiting(thread, false) }
  }

  /// Steps every request that waits for room: called whenever something changed that could let it go on, or must
  /// make it give up. Under the lock.
  func serve(_ after: inout Aftermath) {
    guard !queue.isEmpty else { return }
    for request in queue {
      guard case .queue = request.place else { continue }
      let step = step(request, &after)
      if case .wait = step { continue }
      deliver(step, to: request, &after)
    }
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

  /// The calling thread sleeps until its request gets a step.
  func park(_ request: Request) -> Request.Step {
    let thread = request.thread!
    // Now that this thread waits, others that waited because it was running may have to give up.
    if !request.context.generating.isEmpty {
      locked { self.serve(&$0) }
      for pool in Activity.pools(of: thread, besides: self) { pool.locked { pool.serve(&$0) } }
    }
    Self.workerWillSleep(thread)
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
    let isJoined = if case .generation = request.place { true } else { false }
    leavePlace(request)
    let error: ChunkError =
      isJoined
      ? .cancelled(label: request.label, atDeadline: true) : .noRoom(numbers(request, request.bytes, .deadline))
    note(refused: error, request, &after)
    return .failed(error)
  }

  /// How many chunks a refusal looks at to say who holds the room: enough to name them in a small pool, few enough
  /// to cost nothing in a large one.
  private static let looksForHolders = 128

  /// The numbers of a refusal.
  func numbers(
    _ request: Request, _ bytes: Int, _ reason: ChunkError.NoRoom.Reason, label: String? = nil
  ) -> ChunkError.NoRoom {
    var pinned = 0
    var framed = 0
    var holders: [(label: String, size: Int)] = []
    let since = frames.protectedSince
    for seat in table.seats.prefix(Self.looksForHolders) {
      seat.chunk?._withUnsafeGuaranteedRef { chunk in
        guard chunk.books[seat.lane] >= 0 else { return }
        let slot = Slot(Int(chunk.books[seat.lane]))
        let state = ledger.state(of: slot)
        let size = ledger.size(of: slot)
        if ChunkWord.users(chunk.word.load(ordering: .relaxed), seat.lane) > 0, state == .ready || state == .retired {
          pinned += size
        } else if state == .ready, chunk.stamp.load(ordering: .relaxed) > since {
          framed += size
        } else if state == .ready {
          return
        }
        if holders.count == 4, size <= holders[3].size { return }
        holders.insert((chunk.label, size), at: holders.firstIndex { $0.size < size } ?? holders.count)
        if holders.count > 4 { holders.removeLast() }
      }
    }
    return ChunkError.NoRoom(
      label: label ?? request.label, needed: bytes, free: max(0, ledger.room), budget: ledger.budget,
      pinned: max(pinned, ledger.parkedBytes), framed: framed, reserved: ledger.reserved + ledger.pledged,
      freeing: ledger.freeing, holders: holders.map(\.label), strandedGroups: strandedGroups.map(label(of:)),
      reason: reason)
  }
}
