import CMemChunks
import ChunkLedger
import Synchronization

// Who may wait for what. The rule behind all of it: nobody waits for something that might be waiting for them.
extension PoolCore {
  /// Queues a request that found no room, or says why it must not wait.
  ///
  /// - Parameters:
  ///   - bytes: how much room it needs at least.
  ///   - forOldProduct: what is missing is not room but the chunk's only lane.
  func waitOrRefuse(
    _ request: Request, bytes: Int = 0, forOldProduct: Bool = false, _ after: inout Aftermath
  ) -> Request.Step {
    if let reason = obstacle(to: request) ?? hopelessness(of: request) {
      let isLane = forOldProduct && reason != .insideFree && reason != .bestEffort && reason != .threadEnded
      return .failed(.noRoom(numbers(request, request.bytes, isLane ? .oldProductInUse : reason)))
    }
    return enqueue(request, need: forOldProduct ? WaitingQueue.Need.aMark : WaitingQueue.Need.room(bytes))
  }

  /// Waits for a generation that somebody else makes, or makes it if nobody has begun; unless that would close a ring.
  func join(_ generation: Generation, _ request: Request) -> Request.Step {
    if case .generation(let present) = request.place, present === generation { return .wait }
    guard let thread = request.thread else {
      leavePlace(request)
      return wait(for: generation, request)
    }
    let isOwn = Waits.maker(of: generation) == thread
    // Made by code that the thread runs before it sleeps for this request: looked at anew when that has ended.
    if isOwn, !Waits.isInside(generation, request) { return enqueue(request, need: WaitingQueue.Need.aLook) }
    // One of several that this thread makes, and another of them needs it first.
    if isOwn, generation.progress == .placed { return makeAhead(generation, request) }
    let generating = request.context.generating
    if isOwn, generating.contains(where: { $0 === generation.chunk }) {
      let chain = request.context.chain.drop { $0 !== generation.chunk }
      return .failed(.recursive(chain.map(\.label) + [generation.chunk.label]))
    }
    // Who makes room for it may be the one that asks, in what it frees for that.
    if request.context.isInsideFree { return .failed(.noRoom(numbers(request, request.bytes, .insideFree))) }
    // One of several that another thread makes, which may need first what this one makes. Two of those that waited for
    // each other would look like a ring, though no chunk needs itself; and who makes something is at it anyway.
    if generation.progress == .placed, !generating.isEmpty { return makeAhead(generation, request) }
    leavePlace(request)
    if let labels = Waits.add(thread, depth: request.context.depth, generation) {
      // What this thread began before the ring only leads to it.
      let chain = request.context.chain.map(\.label)
      return .failed(.recursive(chain[(chain.lastIndex(of: labels.last!) ?? 0)...] + labels))
    }
    return wait(for: generation, request)
  }

  private func makeAhead(_ generation: Generation, _ request: Request) -> Request.Step {
    let thread = request.thread!
    noteBegin(of: generation, on: thread)
    generation.isLent = Waits.beginAhead(generation, thread, depth: request.context.depth)
    return .workAhead(generation)
  }

  private func wait(for generation: Generation, _ request: Request) -> Request.Step {
    generation.joiners.append(request)
    request.place = .generation(generation)
    prepareToSleep(request)
    return .wait
  }

  /// - Parameter need: see `WaitingQueue.Need`.
  func enqueue(_ request: Request, need: Int) -> Request.Step {
    if case .queue = request.place {
      queue.setNeed(need, of: request)
      return .wait
    }
    leavePlace(request)
    request.place = .queue
    queue.append(request, need: need)
    prepareToSleep(request)
    return .wait
  }

  func prepareToSleep(_ request: Request) {
    guard let thread = request.thread else { return }
    if request.parker == nil { request.parker = Parker() }
    mc_thread_begin_waiting(thread)
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
  func hopelessness(of request: Request) -> ChunkError.NoRoom.Reason? {
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

  /// Every request that waits, for room or for a generation.
  var waitingRequests: [Request] {
    queue.requests + works.flatMap { $0.generations.flatMap(\.joiners.requests) }
  }

  /// Takes a request from where it waits.
  func leavePlace(_ request: Request) {
    switch request.place {
    case .nowhere: return
    case .job: break
    case .queue: queue.remove(request)
    case .generation(let generation):
      generation.joiners.remove(request)
      if let thread = request.thread { Waits.remove(thread) }
    }
    request.place = .nowhere
    request.patience = nil
    if let thread = request.thread { mc_thread_end_waiting(thread) }
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
