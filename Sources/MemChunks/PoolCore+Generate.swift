import CMemChunks
import ChunkLedger
import Synchronization

// One product: made, counted, and handed to all who wait for it.
extension PoolCore {
  /// Vacates the seat of a generation that made nothing.
  func abandon(_ generation: Generation, _ after: inout Aftermath) {
    let chunk = generation.chunk
    if chunk.books[generation.lane] >= 0 {
      let slot = Slot(Int(chunk.books[generation.lane]))
      chunk.books[generation.lane] = -1
      table.clear(slot)
      ledger.abandon(slot)
    }
    let wasBegun = generation.progress == .begun
    close(generation)
    if wasBegun { noteFailure(of: chunk) }
    for joiner in generation.joiners.requests { restep(joiner, &after) }
  }

  /// Generates what the calling thread has begun. A failure is written down in the generation and its work.
  ///
  /// - Parameter work: the thread's own work, if that is what it belongs to.
  /// - Returns: what the thread does next in that work, decided under the same lock under which the generation ends.
  @discardableResult
  func generate(_ generation: Generation, for work: Work?) -> Turn {
    let chunk = generation.chunk
    let began = time()
    let size: Int
    var cost: UInt64 = 0
    do {
      size = try Activity.run(.generating, self, chunk) { record in
        try chunk.generateProduct(in: generation.lane, generation.quote)
        cost = ownTime(of: time() &- began, record)
        // Part of generating: whoever waits for the product waits for this answer, too.
        return chunk.settledSize(generation.quote)
      }
    } catch {
      let failure = Self.failure(of: chunk, error)
      enter()
      fail(generation, failure, productOf: nil, &aftermath)
      return leave(for: work)
    }
    if size < 0 || size > generation.quote.reservation, let failure = enlarge(generation, to: size) {
      enter()
      fail(generation, isClosed ? closed(for: generation) : failure, productOf: size, &aftermath)
      return leave(for: work)
    }
    enter()
    settle(generation, size: size, cost, &aftermath)
    return leave(for: work)
  }

  private func leave(for work: Work?) -> Turn {
    let turn = if let work { nextTurn(of: work, &aftermath) } else { Turn.looks }
    leave()
    return turn
  }

  /// Errors that concern the whole chain of generations pass through as they are; others are wrapped with the label.
  private static func failure(of chunk: MemChunk, _ error: any Error) -> ChunkError {
    if let error = error as? ChunkError {
      switch error {
      case .recursive, .cancelled, .poolClosed: return error
      default: break
      }
    }
    return .generationFailed(label: chunk.label, underlying: error)
  }

  /// The product is there, and there is room for it: counts it at its true size, if anybody can still want it.
  private func settle(_ generation: Generation, size: Int, _ cost: UInt64, _ after: inout Aftermath) {
    if isClosed {
      fail(generation, closed(for: generation), productOf: size, &after)
    } else if generation.outdated == .byOthers {
      dismiss(generation, size, &after)
      for joiner in generation.joiners.requests { restep(joiner, &after) }
    } else {
      admit(generation, size, cost, &after)
    }
  }

  private func closed(for generation: Generation) -> ChunkError {
    .poolClosed(label: generation.chunk.label, afterFork: false)
  }

  /// Frees a product that nobody will see: it never becomes ready, and stays counted until it is gone, at no more than was
  /// reserved.
  private func dismiss(_ generation: Generation, _ size: Int, _ after: inout Aftermath) {
    let chunk = generation.chunk
    let slot = Slot(Int(chunk.books[generation.lane]))
    let size = min(max(0, size), ledger.size(of: slot))
    close(generation)
    noteFailure(of: chunk)
    ledger.settle(slot, size: size, use: table.use(of: slot))
    ledger.beginFreeing(slot)
    tallies.generations += 1
    tallies.bytesGenerated &+= size
    freesRunning += 1
    after.victims.append(Victim(chunk: chunk, slot: slot, lane: generation.lane, reason: .invalidated))
  }

  /// The product came out larger than was reserved: makes room for the rest, without waiting. Why it cannot be kept, if
  /// there is none, or if its size is no size.
  private func enlarge(_ generation: Generation, to size: Int) -> ChunkError? {
    let chunk = generation.chunk
    guard size >= 0, size <= ByteCount.most else { return .invalidSize(label: chunk.label, size: size) }
    let more = size - generation.quote.reservation
    let request = generation.work.request
    let (grant, freed, error) = locked { _ -> (Grant?, [Victim], ChunkError?) in
      let need = RoomNeed(bytes: more, group: chunk.group.index)
      let room = self.room(for: .one(need), request, thread: mc_thread_current(), mayFreeLate: false)
      let limit = min(self.ledger.budget, self.ledger.limit(of: chunk.group.index))
      if size > limit {
        let group = limit < self.ledger.budget ? chunk.group.label : nil
        return (nil, [], .tooLarge(label: chunk.label, needed: size, limit: limit, group: group))
      }
      guard case .granted(let grant) = self.ledger.requestRoom(for: room, owner: &self.table) else {
        return (nil, [], .noRoom(self.numbers(request, size, .holdsOthers, label: chunk.label)))
      }
      return (grant, self.victims(in: grant.victims, .room), nil)
    }
    guard let grant else { return error }
    let frees = freed.map { (victim: $0, outcome: runFree($0)) }
    return locked { after in
      for free in frees { self.finishFree(free.victim, free.outcome, &after) }
      self.ledger.release(grant)
      guard self.ledger.canPlace(grant) else {
        return .noRoom(self.numbers(request, size, .holdsOthers, label: chunk.label))
      }
      self.ledger.extend(Slot(Int(chunk.books[generation.lane])), by: more)
      if request.purpose != .prefetch { self.dropSurplus(for: size + self.bytesToCome(in: generation.work), &after) }
      return nil
    }
  }

  /// What is promised to the generations of a work that have not begun.
  private func bytesToCome(in work: Work) -> Int {
    work.generations.reduce(0) { sum, generation in
      let slot = generation.chunk.books[generation.lane]
      return generation.progress == .placed ? sum + ledger.size(of: Slot(Int(slot))) : sum
    }
  }

  /// Makes a product ready and hands it to everybody who waited for it.
  private func admit(_ generation: Generation, _ size: Int, _ cost: UInt64, _ after: inout Aftermath) {
    let chunk = generation.chunk
    let slot = Slot(Int(chunk.books[generation.lane]))
    let request = generation.work.request
    chunk.books.generations &+= 1
    close(generation)
    noteCost(of: chunk, cost, in: slot)
    chunk.stamp.store(RecencyClock.advance(clock), ordering: .relaxed)
    noteRequest(for: generation, size)
    ledger.settle(slot, size: size, use: table.use(of: slot))

    // What the last product's end was to be noticed for is over. These are written under the lock only.
    let over = ChunkWord.parked | ChunkWord.parkedByScope | (requests.isWatching ? 0 : ChunkWord.watched)
    if chunk.word.load(ordering: .relaxed) & over != 0 {
      chunk.word.bitwiseAnd(~over, ordering: .acquiringAndReleasing)
    }
    let joiners = generation.joiners.isEmpty ? [] : generation.joiners.requests
    hold(request, CollectionOfOne(generation.index))
    for joiner in joiners where joiner.chunks.count == 1 { hold(joiner, CollectionOfOne(0)) }
    chunk.word.bitwiseOr(ChunkWord.ready, ordering: .acquiringAndReleasing)
    if generation.departs {
      ledger.markDeparting(slot)
      lingering.append(chunk)
    }
    // About to go, or above a limit, together with what the same request made before: the end of its use must be noticed.
    if generation.departs { watch(chunk, slot) }
    if size > 0, ledger.ready > ledger.keepLimit || ledger.overdraft > 0 {
      for made in generation.work.generations where made.chunk.books[made.lane] >= 0 {
        let slot = Slot(Int(made.chunk.books[made.lane]))
        if ledger.state(of: slot) == .ready, ledger.size(of: slot) > 0 { watch(made.chunk, slot) }
      }
    }

    tallies.generations += 1
    tallies.bytesGenerated &+= size
    tallies.timeGenerating &+= cost
    note(generated: chunk, size, cost, &after)
    for joiner in joiners {
      noteHit(of: chunk, for: joiner)
      if joiner.chunks.count == 1 {
        deliver(.ready, to: joiner, &after)
      } else {
        restep(joiner, &after)
      }
    }
    // Those who waited have it, if they hold it.
    if generation.outdated == .byItself { expire(chunk, &after) }
    serve(&after)
  }

  /// A generation failed. All who waited get the same error, and nothing is remembered.
  ///
  /// - Parameter size: the bytes of a product that is there but cannot be kept.
  private func fail(
    _ generation: Generation, _ error: ChunkError, productOf size: Int?, _ after: inout Aftermath
  ) {
    let work = generation.work
    work.failure = .failed(error)
    generation.failure = work.failure
    tallies.failures += 1
    for joiner in generation.joiners.requests { deliver(.failed(error), to: joiner, &after) }
    note(failed: generation.chunk, error, &after)
    if let size { dismiss(generation, size, &after) } else { abandon(generation, &after) }
    // All or none: what the same request has not begun is given up. What it has made stays ready.
    for other in work.generations where other.progress == .placed { abandon(other, &after) }
    serve(&after)
  }
}
