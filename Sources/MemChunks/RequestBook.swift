import ChunkLedger
import Synchronization

/// Who wants to hear of requests: the order of victims, a recorder. Guarded by the pool's lock.
struct RequestBook {
  var isWatching = false
  fileprivate var sink: (any RequestSink)?
  fileprivate var mustFlush = false
  var nested = NestedRequests()
  /// Chunks are numbered when somebody first hears of them.
  private var lastNumber: UInt32 = 0
  /// Where the numbered chunks sit that are ready.
  fileprivate(set) var slots: [UInt32: Slot] = [:]

  var hasSink: Bool { sink != nil }

  /// 0 when a thousand million chunks have one: what has none is not heard of.
  mutating func nextNumber() -> UInt32 {
    guard lastNumber < HitNote.number else { return 0 }
    lastNumber += 1
    return lastNumber
  }

  mutating func sinkToFlush() -> (any RequestSink)? {
    guard mustFlush else { return nil }
    mustFlush = false
    return sink
  }
}

/// What a recorder hears of a pool.
package enum RequestEvent: Sendable {
  /// A chunk is called by this number from now on.
  case named(number: UInt32, label: String, group: String)
  /// A use found the product ready.
  case hit(number: UInt32)
  /// A token holds the product, or one more of them.
  case pinned(number: UInt32)
  /// One of the tokens let go.
  case unpinned(number: UInt32)
  /// A product was made for a use: its bytes, and what that took in nanoseconds.
  case generated(number: UInt32, size: Int, nanoseconds: UInt64, isPrefetch: Bool)
  /// What comes next is asked for inside the generation of this chunk, which ends with `generated` or `failed`; 0: inside none.
  case inside(number: UInt32)
  /// A generation ended without a product that anybody sees.
  case failed(number: UInt32)
  /// Generating takes more bytes while it lasts than the product that is told of next.
  case peak(number: UInt32, bytes: Int)
  /// A product was there when recording began.
  case ready(number: UInt32, size: Int, nanoseconds: UInt64)
  /// A product was freed.
  case freed(number: UInt32, reason: FreeReason)
  /// So many hits found no place in the buffer.
  case dropped(hits: Int)
  /// The budget is so many bytes.
  case budget(Int)
  /// So many bytes may stay ready while nobody uses them, at this level of pressure.
  case keepLimit(Int, PressureLevel)
  /// Only time has passed.
  case time
}

/// A recorder of requests.
package protocol RequestSink: AnyObject, Sendable {
  /// Takes an event down. Called under the pool's lock, in the order of events: must be quick and run nothing of the user's.
  /// True when `flush` should be called.
  func note(_ event: RequestEvent, at nanoseconds: UInt64) -> Bool

  /// The same of many hits, and beginnings and ends of tokens among them, as `HitNote` has them.
  func note(hits: UnsafeBufferPointer<UInt32>, at nanoseconds: UInt64) -> Bool

  /// Writes down what was noted. Called without the lock, by several threads at once.
  func flush()
}

extension ChunkPool {
  /// Has a recorder hear of requests from now on, in place of the last one.
  package func setRequestSink(_ sink: any RequestSink) {
    core.locked { after in
      self.core.drainHits()
      if let old = self.core.requests.sink { after.releases.append(old) }
      self.core.requests.sink = sink
      self.core.requests.nested.told = 0
      self.core.watchHits(true)
      self.core.noteBudget()
      self.core.noteKeepLimit()
      self.core.tellReadyChunks()
    }
  }

  /// Tells a recorder of the hits until now, and then runs `note`, with the time, under the pool's lock; neither if the pool has
  /// another recorder now, or none.
  package func withRequestSink(_ sink: any RequestSink, _ note: (_ nanoseconds: UInt64) -> Void) {
    core.locked { _ in
      guard self.core.requests.sink === sink else { return }
      self.core.drainHits()
      note(self.core.time())
    }
  }

  /// Tells a recorder of the hits until now, and then nothing more.
  package func removeRequestSink(_ sink: any RequestSink) {
    core.locked { after in
      self.core.drainHits()
      guard self.core.requests.sink === sink else { return }
      after.releases.append(sink)
      self.core.requests.sink = nil
      self.core.requests.nested = NestedRequests()
      self.core.watchHits(self.core.ledger.wantsRequests)
    }
  }
}

extension PoolCore {
  /// Tells the recorder, if there is one. Under the lock.
  func tell(_ event: RequestEvent) {
    guard let sink = requests.sink else { return }
    if sink.note(event, at: time()) { requests.mustFlush = true }
  }

  func noteBudget() { tell(.budget(ledger.budget)) }
  func noteKeepLimit() { tell(.keepLimit(ledger.keepLimit, pressure.level)) }

  /// A product of a generation was made; before it is in line.
  func noteRequest(for generation: Generation, _ size: Int) {
    // Nobody has heard of its hits since it was last watched, and the word forgets that when it is made ready.
    guard requests.isWatching else { return }
    let (chunk, request) = (generation.chunk, generation.work.request)
    let isPrefetch = request.purpose == .prefetch
    chunk.word.bitwiseOr(ChunkWord.watched, ordering: .acquiringAndReleasing)
    number(chunk)
    guard chunk.number != 0 else { return }
    if !isPrefetch { tell(inside: number(around: request)) }
    let peak = generation.quote.reservation
    if peak > size { tell(.peak(number: chunk.number, bytes: peak)) }
    tell(
      .generated(number: chunk.number, size: size, nanoseconds: chunk.books.cost, isPrefetch: isPrefetch))
    guard !isPrefetch else { return }
    ledger.note(number: chunk.number, size: size, cost: chunk.books.cost)
  }

  /// A use found the product ready.
  func noteHit(of chunk: MemChunk, for request: Request) {
    guard requests.isWatching, chunk.number != 0 else { return }
    tell(inside: number(around: request))
    tell(.hit(number: chunk.number))
    if ledger.wantsRequests { noteForOrder(hitOf: chunk.number) }
  }

  private func noteForOrder(hitOf number: UInt32) {
    // It may have been freed since.
    guard let slot = requests.slots[number], let seat = table.seats[slot.index].chunk else { return }
    let cost = seat._withUnsafeGuaranteedRef { $0.books.cost }
    ledger.note(number: number, size: ledger.size(of: slot), cost: cost)
  }

  /// Tokens hold a product, more or fewer of them than before. Under the lock; hits tell by their buffer.
  func noteToken(of chunk: MemChunk, holds: Bool) {
    guard requests.isWatching, chunk.number != 0 else { return }
    tell(holds ? .pinned(number: chunk.number) : .unpinned(number: chunk.number))
  }

  /// A product has gone.
  func noteFreed(_ chunk: MemChunk, _ slot: Slot, _ reason: FreeReason) {
    guard chunk.number != 0 else { return }
    // It may have a newer product in another slot.
    if requests.slots[chunk.number] == slot { requests.slots[chunk.number] = nil }
    tell(.freed(number: chunk.number, reason: reason))
  }

  /// Gives a chunk its number, and remembers where it sits now.
  private func number(_ chunk: MemChunk) {
    if chunk.number == 0 { chunk.number = requests.nextNumber() }
    let lane = ChunkWord.currentLane(chunk.word.load(ordering: .relaxed))
    requests.slots[chunk.number] = Slot(Int(chunk.books[lane]))
    tell(.named(number: chunk.number, label: chunk.label, group: chunk.group.label))
  }

  func watchHits(_ watches: Bool) {
    if watches, hits == nil {
      let hits = HitBuffer()
      (clock + 1).pointee.store(hits.owner, ordering: .relaxed)
      self.hits = hits
    }
    requests.isWatching = watches
    for seat in table.seats {
      seat.chunk?._withUnsafeGuaranteedRef { chunk in
        if watches {
          if requests.slots[chunk.number] == nil { number(chunk) }
          chunk.word.bitwiseOr(ChunkWord.watched, ordering: .acquiringAndReleasing)
        } else {
          chunk.word.bitwiseAnd(~ChunkWord.watched, ordering: .acquiringAndReleasing)
        }
      }
    }
  }

  /// A recorder that comes late is told of what is ready.
  fileprivate func tellReadyChunks() {
    for (number, slot) in requests.slots {
      table.seats[slot.index].chunk?._withUnsafeGuaranteedRef { chunk in
        tell(.named(number: number, label: chunk.label, group: chunk.group.label))
        tell(.ready(number: number, size: ledger.size(of: slot), nanoseconds: chunk.books.cost))
        for _ in 0..<chunk.tokens.load(ordering: .relaxed) { tell(.pinned(number: number)) }
      }
    }
  }

  /// Tells of the hits until now. Under the lock, before anything is decided.
  func drainHits() {
    guard let hits = hits else { return }
    hits.drain { batch, thread in
      tell(inside: requests.nested.innermost(ofThread: thread))
      if let sink = requests.sink, sink.note(hits: batch, at: time()) { requests.mustFlush = true }
      guard ledger.wantsRequests else { return }
      for hit in batch where hit & HitNote.unpinned == 0 { noteForOrder(hitOf: hit & HitNote.number) }
    }
    guard hits.dropped.load(ordering: .relaxed) > 0 else { return }
    tell(.dropped(hits: Int(hits.dropped.exchange(0, ordering: .relaxed))))
  }
}
