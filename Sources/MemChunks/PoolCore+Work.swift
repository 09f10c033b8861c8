import CMemChunks
import ChunkLedger
import Synchronization

// From the promise of room to the answer: the victims go, and what is to be made is made, by whoever needs it first.
extension PoolCore {
  /// Frees the victims, takes the room, generates what is to be generated.
  func run(_ work: Work) -> Request.Step {
    let frees = work.victims.map { (victim: $0, outcome: runFree($0)) }
    work.victims = []
    enter()
    for free in frees { finishFree(free.victim, free.outcome, &aftermath) }
    var turn = firstTurn(of: work, &aftermath)
    leave()
    while true {
      switch turn {
      case .makes(let generation): turn = generate(generation, for: work)
      case .looks: turn = locked { self.nextTurn(of: work, &$0) }
      case .sleeps(let parker):
        let thread = mc_thread_current()!
        willSleep(thread, isGenerating: true)
        _ = parker.sleep(atMost: nil)
        Self.workerWoke(thread)
        turn = .looks
      case .concluded(let step): return step
      }
    }
  }

  /// What the thread of a work does next.
  enum Turn {
    case makes(Generation)
    /// Looks again, with the lock open in between.
    case looks
    case sleeps(Parker)
    case concluded(Request.Step)
  }

  /// The victims are gone: takes the room, and begins.
  private func firstTurn(of work: Work, _ after: inout Aftermath) -> Turn {
    let request = work.request
    ledger.release(work.grant)
    if isClosed {
      giveUp(work, &after)
      return .concluded(.failed(.poolClosed(label: request.label, afterFork: false)))
    }
    if request.isAbandoned, work.generations.allSatisfy({ $0.joiners.isEmpty }) {
      // Cancelled before it began, and nobody else came: the work is saved.
      giveUp(work, &after)
      return .concluded(.failed(.cancelled(label: request.label, atDeadline: false)))
    }
    // A victim may have handed back its bytes late; then the room is not there yet, and somebody else may have it.
    guard ledger.canPlace(work.grant) else {
      giveUp(work, &after)
      return .concluded(step(request, &after))
    }
    guard place(work) else {
      giveUp(work, &after)
      let bytes = work.grant.needs.reduce(0) { $0 + $1.bytes }
      return .concluded(.failed(.noRoom(numbers(request, bytes, .addressSpace))))
    }
    let first = beginNext(of: work)
    if work.generations.count > 1 { offer(work, &after) }
    serve(&after)
    return first.map { .makes($0) } ?? .looks
  }

  /// When its own thread has nothing left to make, it waits until others have made what they took over of the work.
  ///
  /// No ring can close here: that the work's request waits for it was known to `Waits` from the moment it was taken over.
  func nextTurn(of work: Work, _ after: inout Aftermath) -> Turn {
    // Whatever the last product leads to is done before the next is begun, or the work ends.
    guard after.isEmpty else { return .looks }
    if let next = beginNext(of: work) { return .makes(next) }
    if work.generations.contains(where: { $0.progress != .over }) {
      let parker = Parker()
      work.parker = parker
      mc_thread_begin_waiting(mc_thread_current()!)
      return .sleeps(parker)
    }
    return .concluded(conclude(work, &after))
  }

  /// What the request gets when nothing of its work is left to be made.
  private func conclude(_ work: Work, _ after: inout Aftermath) -> Request.Step {
    let request = work.request
    let isStale = work.generations.contains { $0.outdated == .byOthers }
    let isReady = !request.isAbandoned && work.failure == nil && !isStale
    // Before the end of the work has others looked at: they may wait for just this.
    if !isReady { unholdAll(request, &after) }
    end(work, &after)
    if isReady { return .ready }
    if let failure = work.failure { return failure }
    // Invalidated on the way, or its task was cancelled: looked at anew. Who invalidates may go on for ever, so this is
    // where a deadline ends it, and a prefetch, for which nobody waits, does not begin again.
    if isStale, request.purpose == .prefetch || request.isPastDeadline(time()) {
      let error = ChunkError.cancelled(label: request.label, atDeadline: request.purpose != .prefetch)
      note(refused: error, request, &after)
      return .failed(error)
    }
    return step(request, &after)
  }

  /// Seats every chunk of a work. False when the arena cannot grow.
  private func place(_ work: Work) -> Bool {
    for number in work.generations.indices {
      let (generation, need) = (work.generations[number], work.grant.needs[number])
      let warm = ledger.arena.warmBytes
      var slot = ledger.place(need)
      if slot == nil,
        arena.addPiece(atLeast: ledger.arena.pages(for: need.arenaBytes), budget: ledger.budget, &ledger.arena)
      {
        slot = ledger.place(need)
      }
      guard let slot else { return false }
      let chunk = generation.chunk
      generation.progress = .placed
      chunk.books[generation.lane] = Int32(slot.index)
      table.seat(chunk, lane: generation.lane, in: slot)
      if need.arenaBytes > 0 {
        let isFresh = warm - ledger.arena.warmBytes < need.arenaBytes
        chunk.place(arena.address(of: ledger.pages(of: slot)), isFresh: isFresh, in: generation.lane)
      }
    }
    return true
  }

  /// A work that will not be done: seats are vacated, and those who joined look for themselves.
  private func giveUp(_ work: Work, _ after: inout Aftermath) {
    for generation in work.generations { abandon(generation, &after) }
    unholdAll(work.request, &after)
    end(work, &after)
  }

  private func end(_ work: Work, _ after: inout Aftermath) {
    works.remove(at: works.lastIndex { $0 === work }!)
    serve(&after)
  }

  /// Begins what the work's own thread is to make next; nil if nothing is left that nobody has begun. Under the lock.
  private func beginNext(of work: Work) -> Generation? {
    while work.next < work.generations.count {
      let generation = work.generations[work.next]
      work.next += 1
      guard generation.progress == .placed else { continue }
      let thread = mc_thread_current()!
      Waits.begin(generation, thread, depth: Activity.depth(of: thread))
      noteBegin(of: generation, on: thread)
      return generation
    }
    return nil
  }

  /// From here on the thread makes it, and nobody else. Under the lock.
  func noteBegin(of generation: Generation, on thread: Thread) {
    generation.progress = .begun
    noteBegin(of: generation.chunk, on: thread)
  }

  /// Those inside generations who came while room was made for something may make it themselves now, and must: the work's
  /// own thread may need what they make before it comes to that.
  private func offer(_ work: Work, _ after: inout Aftermath) {
    for generation in work.generations where generation.progress == .placed && !generation.joiners.isEmpty {
      for joiner in generation.joiners.requests where !joiner.context.generating.isEmpty { restep(joiner, &after) }
    }
  }

  /// A generation is over, however it ended. Under the lock.
  func close(_ generation: Generation) {
    if generation.progress == .begun { noteEnd(of: generation.chunk) }
    generation.chunk.books.generation = nil
    generation.progress = .over
    guard generation.isLent else { return }
    Waits.endLent(generation)
    let work = generation.work
    guard let parker = work.parker, work.generations.allSatisfy({ $0.progress == .over }) else { return }
    work.parker = nil
    mc_thread_end_waiting(Waits.thread(of: work)!)
    parker.wake()
  }
}
