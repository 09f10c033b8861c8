import CMemChunks
import ChunkLedger
import Synchronization

extension MemChunk {
  /// The slow path of every use: returns the lane in which the chunk is held, if `purpose` holds it.
  @usableFromInline
  @discardableResult
  final func obtain(_ purpose: Request.Purpose, _ limit: Duration?) throws(ChunkError) -> Int {
    try core.obtain([self], purpose, limit).lanes[0]
  }
}

extension PoolCore {
  /// Makes chunks ready for the calling thread, all or none, and holds them if `purpose` says so.
  @discardableResult
  func obtain(_ chunks: [MemChunk], _ purpose: Request.Purpose, _ limit: Duration? = nil) throws(ChunkError) -> Request
  {
    if isForked { throw ChunkError.poolClosed(label: chunks.first?.label ?? "", afterFork: true) }
    let thread = mc_thread_current()!
    freeQueuedHere(thread)
    let request = Request(chunks, purpose, thread: thread, deadline: limit.map { deadline(in: $0) })
    try drive(request)
    return request
  }

  func deadline(in limit: Duration) -> UInt64 { time() &+ limit.nanoseconds }

  /// Goes from step to step until the chunks are ready or cannot be.
  func drive(_ request: Request) throws(ChunkError) {
    request.quoteSizes(self)
    var step = locked { self.firstStep(request, &$0) }
    while true {
      switch step {
      case .ready: return
      case .failed(let error): throw error
      case .quote:
        request.quoteSizes(self)
        step = locked { self.step(request, &$0) }
      case .work(let work): step = run(work)
      case .workAhead(let work, let index):
        // Unless code that this thread ran before it slept has made it meanwhile.
        if lock.withLock({ !work.generations[index].isStarted }) { generate(work, index) }
        step = locked { work.failure.map { .failed($0) } ?? self.step(request, &$0) }
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
    // What was only waiting to go is gone before others are asked to.
    if !after.victims.isEmpty { return .quote }
    return step(request, &after)
  }

  /// What a request must do next. Under the lock; repeated whenever something changed.
  func step(_ request: Request, _ after: inout Aftermath) -> Request.Step {
    let step = decide(request, &after)
    if case .wait = step { return step }
    leavePlace(request)
    if case .failed(let error) = step { note(refused: error, request, &after) }
    return step
  }

  private func decide(_ request: Request, _ after: inout Aftermath) -> Request.Step {
    if request.isAbandoned { return .failed(.cancelled(label: request.label, atDeadline: false)) }
    if isClosed { return .failed(.poolClosed(label: request.label, afterFork: false)) }
    if let ring = request.ring { return .failed(ring) }
    if hasQueuedFrees(for: request.thread) { return .drain }
    var missing: [Int] = []
    for (index, chunk) in request.chunks.enumerated() {
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
    for index in missing where request.quotes[index].version != request.chunks[index].books.version { return .quote }
    if let error = request.invalidSize(among: missing) { return .failed(error) }
    return requestRoom(for: missing, request, &after)
  }

  private func requestRoom(for missing: [Int], _ request: Request, _ after: inout Aftermath) -> Request.Step {
    if works.count >= generationLimit, request.context.generating.isEmpty {
      guard request.context.isInsideFree else { return enqueue(request) }
      return .failed(.noRoom(numbers(request, request.bytes, .insideFree)))
    }
    let needs = missing.map { index in
      let quote = request.quotes[index]
      return RoomNeed(bytes: quote.reservation, group: request.chunks[index].group.index, arenaBytes: quote.arenaBytes)
    }
    var room = room(for: needs, request, thread: request.thread, mayFreeLate: mayWaitForLateFrees(request))
    // Those of several that are ready already must not be freed for the others.
    var absent = missing[...]
    let present = request.chunks.indices.filter { index in
      guard index == absent.first else { return true }
      absent.removeFirst()
      return false
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
      return waitOrRefuse(request, &after)
    case .granted(let grant):
      let work = Work(request, grant, indices: missing, victims: victims(in: grant.victims, .room))
      for (number, index) in missing.enumerated() {
        let chunk = request.chunks[index]
        let generation = Generation(
          chunk, lane: ChunkWord.currentLane(chunk.word.load(ordering: .relaxed)), work: work, index: number)
        chunk.books.generation = generation
        work.generations.append(generation)
      }
      works.append(work)
      if request.purpose != .prefetch { dropSurplus(for: room.bytes, &after) }
      return .work(work)
    }
  }

  /// What is asked of the ledger on behalf of a request.
  func room(for needs: [RoomNeed], _ request: Request, thread: Thread?, mayFreeLate: Bool) -> RoomRequest {
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

  /// Waits for a generation that is running, unless that would close a ring.
  private func join(_ generation: Generation, _ request: Request) -> Request.Step {
    if case .generation(let present) = request.place, present === generation { return .wait }
    if let thread = request.thread {
      if Waits.thread(of: generation.work) == thread {
        // Made by code that the thread runs before it sleeps for this request: looked at anew when that has ended.
        guard Waits.isInside(generation, request) else { return enqueue(request) }
        // Not begun yet: it is one of several that this thread makes, and another of them needs it first.
        if !generation.isStarted, generation.chunk.books[generation.lane] >= 0 {
          return .workAhead(generation.work, generation.index)
        }
        if request.context.generating.contains(where: { $0 === generation.chunk }) {
          let chain = request.context.chain.drop { $0 !== generation.chunk }
          return .failed(.recursive(chain.map(\.label) + [generation.chunk.label]))
        }
        // Else it is making room for it, and what it frees wants it.
      }
      if request.context.isInsideFree { return .failed(.noRoom(numbers(request, request.bytes, .insideFree))) }
    }
    leavePlace(request)
    if let thread = request.thread {
      if let labels = Waits.add(thread, depth: request.context.depth, generation) {
        // What this thread began before the ring only leads to it.
        let chain = request.context.chain.map(\.label)
        return .failed(.recursive(chain[(chain.lastIndex(of: labels.last!) ?? 0)...] + labels))
      }
    }
    generation.joiners.append(request)
    request.place = .generation(generation)
    prepareToSleep(request)
    return .wait
  }

  /// Adds the request as a user of chunks that are ready. Under the lock, so they stay ready.
  func hold(_ request: Request, _ indices: some Sequence<Int>) {
    guard request.purpose.holds else { return }
    for index in indices {
      request.lanes[index] = hold(request.chunks[index], request.purpose)
      request.held.append(index)
    }
  }

  /// Adds one user to a chunk that is ready, or about to be; returns its lane.
  func hold(_ chunk: MemChunk, _ purpose: Request.Purpose) -> Int {
    let lane = ChunkWord.currentLane(chunk.word.load(ordering: .relaxed))
    if purpose == .token { chunk.tokens.wrappingAdd(1, ordering: .acquiringAndReleasing) }
    let now = chunk.word.wrappingAdd(ChunkWord.oneUser(UInt64(lane)), ordering: .acquiringAndReleasing).newValue
    // Many may have waited for the same product.
    if now & ChunkWord.usersGuards != 0 { chunk.relieveWord() }
    return lane
  }

  /// Takes back everything that the request holds: all or none.
  func unholdAll(_ request: Request, _ after: inout Aftermath) {
    let held = request.held
    request.held = []
    for index in held {
      let chunk = request.chunks[index]
      let user = ChunkWord.oneUser(UInt64(request.lanes[index]))
      chunk.word.wrappingSubtract(user, ordering: .acquiringAndReleasing)
      if request.purpose == .token { chunk.tokens.wrappingSubtract(1, ordering: .acquiringAndReleasing) }
      noteEnd(of: chunk, request.lanes[index], &after)
    }
  }
}
