import CMemChunks
import ChunkLedger
import Synchronization

extension MemChunk {
  /// The slow path of every use: returns the lane in which the chunk is held, if `purpose` holds it.
  @usableFromInline
  @discardableResult
  final func obtain(_ purpose: Request.Purpose, _ limit: Duration?) throws(ChunkError) -> Int {
    try core.obtain(.one(self), purpose, limit).lanes[0]
  }
}

extension PoolCore {
  /// Makes chunks ready for the calling thread, all or none, and holds them if `purpose` says so.
  @discardableResult
  func obtain(_ chunks: Few<MemChunk>, _ purpose: Request.Purpose, _ limit: Duration? = nil) throws(ChunkError)
    -> Request
  {
    if isForked { throw ChunkError.poolClosed(label: chunks.first?.label ?? "", afterFork: true) }
    let thread = mc_thread_current()!
    let request = Request(chunks, purpose, thread: thread, deadline: limit.map { deadline(in: $0) })
    try drive(request)
    return request
  }

  func deadline(in limit: Duration) -> UInt64 { time() &+ limit.nanoseconds }

  /// Goes from step to step until the chunks are ready or cannot be.
  func drive(_ request: Request) throws(ChunkError) {
    request.quoteSizes(self)
    enter()
    var step = firstStep(request, &aftermath)
    leave()
    while true {
      switch step {
      case .ready: return
      case .failed(let error): throw error
      case .quote:
        request.quoteSizes(self)
        step = locked { self.step(request, &$0) }
      case .work(let work): step = run(work)
      case .workAhead(let generation):
        generate(generation, for: nil)
        step = locked { generation.failure ?? self.step(request, &$0) }
      case .drain:
        freeQueuedHere(request.thread!)
        step = locked { self.step(request, &$0) }
      case .wait: step = park(request)
      }
    }
  }

  func firstStep(_ request: Request, _ after: inout Aftermath) -> Request.Step {
    visit(&after)
    countUses(of: request)
    noteNeeds(of: request)
    // What was only waiting to go is gone before others are asked to.
    if !after.victims.isEmpty { return .quote }
    return step(request, &after)
  }

  /// What a request must do next. Under the lock; repeated whenever something changed.
  func step(_ request: Request, _ after: inout Aftermath) -> Request.Step {
    var step = decide(request, &after)
    if case .wait = step {
      guard request.isOutOfTime else { return step }
      step = .failed(outOfTime(request))
    }
    leavePlace(request)
    if case .failed(let error) = step { note(refused: error, request, &after) }
    return step
  }

  private func decide(_ request: Request, _ after: inout Aftermath) -> Request.Step {
    if hasQueuedFrees(for: request.thread) { return .drain }
    if request.isAbandoned { return .failed(.cancelled(label: request.label, atDeadline: false)) }
    if isClosed { return .failed(.poolClosed(label: request.label, afterFork: false)) }
    if let ring = request.ring { return ring }
    var missing = Few<Int>()
    for index in request.chunks.indices {
      let chunk = request.chunks[index]
      chunk.relieveWord()
      switch stand(of: chunk) {
      case .ready: continue
      case .generating(let generation): return join(generation, request)
      case .leaving: return waitOrRefuse(request, forOldProduct: true, &after)
      case .empty: missing.append(index)
      }
    }
    guard !missing.isEmpty else {
      hold(request, request.chunks.indices)
      return .ready
    }
    for index in missing where request.quotes[index].version != request.chunks[index].books.version {
      guard request.isQuotedInVain, request.isPastDeadline(time()) else { return .quote }
      return .failed(.cancelled(label: request.label, atDeadline: true))
    }
    if let error = request.invalidSize(among: missing) { return .failed(error) }
    return requestRoom(for: missing, request, &after)
  }

  private func requestRoom(for missing: Few<Int>, _ request: Request, _ after: inout Aftermath) -> Request.Step {
    if mustWaitForTurn(request) {
      guard request.context.isInsideFree else {
        let bytes = missing.reduce(0) { min($0 + request.quotes[$1].reservation, ByteCount.most) }
        return enqueue(request, need: WaitingQueue.Need.room(bytes))
      }
      return .failed(.noRoom(numbers(request, request.bytes, .insideFree)))
    }
    let needs = missing.map { index in
      let quote = request.quotes[index]
      return RoomNeed(bytes: quote.reservation, group: request.chunks[index].group.index, arenaBytes: quote.arenaBytes)
    }
    var room = room(for: needs, request, thread: request.thread, mayFreeLate: mayWaitForLateFrees(request))
    // Those of several that are ready already must not be freed for the others.
    var present = Few<Int>()
    var absent = 0
    for index in request.chunks.indices {
      if absent < missing.count, missing[absent] == index { absent += 1 } else { present.append(index) }
    }
    hold(request, present)
    room.present = present.map { index in
      let chunk = request.chunks[index]
      let slot = Slot(Int(chunk.books[ChunkWord.currentLane(chunk.word.load(ordering: .relaxed))]))
      return RoomNeed(bytes: ledger.size(of: slot), group: chunk.group.index)
    }
    switch ledger.requestRoom(for: room, owner: &table) {
    case .tooLarge(let limit, let group):
      unholdAll(request, &after)
      let needed = room.bytesTogether(in: group)
      return .failed(.tooLarge(label: request.label, needed: needed, limit: limit, group: group.map(label(of:))))
    case .refused:
      unholdAll(request, &after)
      return waitOrRefuse(request, bytes: room.bytes, &after)
    case .granted(let grant):
      let work = Work(request, grant, victims: victims(in: grant.victims, .room))
      for index in missing {
        let chunk = request.chunks[index]
        let lane = ChunkWord.currentLane(chunk.word.load(ordering: .relaxed))
        let generation = Generation(chunk, lane: lane, request.quotes[index], work: work, index: index)
        chunk.books.generation = generation
        queue.mark(chunk)
        work.generations.append(generation)
      }
      works.append(work)
      if request.thread == nil { workers.takeSeat() }
      if request.purpose != .prefetch { dropSurplus(for: room.bytes, &after) }
      return .work(work)
    }
  }

  /// Whether no more may be generated at once, whatever room there is. A generation inside another is made by its thread,
  /// and not held up.
  func mustWaitForTurn(_ request: Request) -> Bool {
    if works.count >= generationLimit, request.context.generating.isEmpty { return true }
    // What a task wants is made by a thread of the pool's, and one of those must be left for it.
    return request.thread == nil && !workers.hasFreeSeat
  }

  /// What is asked of the ledger on behalf of a request.
  func room(for needs: Few<RoomNeed>, _ request: Request, thread: Thread?, mayFreeLate: Bool) -> RoomRequest {
    var room = RoomRequest(
      needs, protectedSince: min(frames.protectedSince, request.sparesUsesSince),
      thread: thread?.number ?? BoundThread.any, mayFreeLate: mayFreeLate, isBestEffort: request.purpose == .prefetch)
    // What nobody uses yet does not go above what may be kept.
    if request.purpose == .prefetch { room.spareRoom = ledger.budget - ledger.keepLimit }
    return room
  }

  /// How things stand with a chunk.
  private enum Stand {
    case ready
    case generating(Generation)
    case empty
    /// Its only lane is being freed, or holds a product that is out of date and still in use.
    case leaving
  }

  private func stand(of chunk: MemChunk) -> Stand {
    if let generation = chunk.books.generation { return .generating(generation) }
    let lane = ChunkWord.currentLane(chunk.word.load(ordering: .relaxed))
    guard chunk.books[lane] >= 0 else { return .empty }
    if ledger.state(of: Slot(Int(chunk.books[lane]))) == .ready { return .ready }
    guard chunk.laneCount == 2, chunk.books[1 - lane] < 0 else { return .leaving }
    chunk.word.bitwiseXor(ChunkWord.lane, ordering: .acquiringAndReleasing)
    return .empty
  }
}
