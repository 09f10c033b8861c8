import CMemChunks
import ChunkLedger
import Synchronization

/// What all chunks of a pool share: the books, and one lock around them.
///
/// `ChunkPool` is a handle on it. Chunks keep the core alive, the handle closes it. Everything that needs the lock
/// goes through `locked`, which runs none of the user's code: what must run it - frees, resumed tasks, observers,
/// releases that may be the last - is written into an `Aftermath` and done when the lock is open again.
final class PoolCore: @unchecked Sendable {
  let lock = Lock()
  /// The recency clock, on a cache line of its own: hits read it, slow steps write it. Behind it is `HitBuffer.owner`, for
  /// hits that are watched.
  let clock: UnsafeMutablePointer<Atomic<UInt64>>
  /// Monotonic nanoseconds. Measures costs, ages and deadlines; never the order of chunks.
  let time: @Sendable () -> UInt64
  private let forks: UInt32
  /// Whether a group was ever bound to a thread: else nobody asks the lock which thread may free what.
  let knowsBoundGroups = Atomic<Bool>(false)
  /// Gives back what the C library keeps. Tests put their own in its place, before anything is freed.
  @exclusivity(unchecked) var trimHeap: @Sendable () -> Void = { mc_trim_heap() }

  // Guarded by the lock, which already excludes what the compiler would check at every access.
  @exclusivity(unchecked) var ledger: Ledger<PoolOrder>
  @exclusivity(unchecked) var table: ChunkTable
  @exclusivity(unchecked) var arena = Arena()
  @exclusivity(unchecked) var queue = WaitingQueue()
  /// How many pages were freed in this step that the next buffers are not expected to need.
  @exclusivity(unchecked) var pagesToSpare = 0
  /// What is being made room for or generated.
  @exclusivity(unchecked) var works: [Work] = []
  /// Victims whose `free()` is running, or about to.
  @exclusivity(unchecked) var freesRunning = 0
  /// Products that are out of date and still in use. Few, and soon gone.
  @exclusivity(unchecked) var retired: [Slot] = []
  @exclusivity(unchecked) var generationLimit = Int.max
  @exclusivity(unchecked) var frames = FrameBook()
  @exclusivity(unchecked) var tallies = Tallies()
  @exclusivity(unchecked) var thrash = ThrashWatch()
  @exclusivity(unchecked) var pressure = PressureBook()
  @exclusivity(unchecked) var ages = AgeBook()
  @exclusivity(unchecked) var groups: [GroupBook] = []
  @exclusivity(unchecked) var workers = WorkerBook()
  @exclusivity(unchecked) var observer: (@Sendable (PoolEvent) -> Void)?
  /// Made when somebody first wants to hear of hits, before the first chunk is watched, and kept: hits read it without the
  /// lock.
  @exclusivity(unchecked) var hits: HitBuffer?
  /// Who hears of requests.
  @exclusivity(unchecked) var requests = RequestBook()
  /// Chunks discarded while they were generated: they go at the pool's next visit, if unused.
  @exclusivity(unchecked) var lingering: [MemChunk] = []
  @exclusivity(unchecked) var companions: [any PoolCompanion] = []
  @exclusivity(unchecked) var isClosed = false
  /// What the step under the lock leaves to be done. Empty when the lock is open.
  @exclusivity(unchecked) var aftermath = Aftermath()

  init(budget: Int, order: PoolOrder, time: @escaping @Sendable () -> UInt64) {
    mc_watch_forks()
    Waits.prepare()
    forks = mc_fork_count()
    let line = UnsafeMutableRawPointer.allocate(byteCount: 128, alignment: 128)
    clock = line.initializeMemory(as: Atomic<UInt64>.self, to: Atomic(RecencyClock.step))
    (clock + 1).initialize(to: Atomic(0))
    self.time = time
    ledger = Ledger(budget: budget, pageSize: mc_page_size(), order: order)
    ledger.freesAhead = true
    table = ChunkTable(clock: clock)
    if order.wantsRequests { watchHits(true) }
  }

  deinit {
    clock.deinitialize(count: 2)
    UnsafeMutableRawPointer(clock).deallocate()
  }

  /// True in a process that was forked off the one that made the pool. Its lock may be held for ever there, and what
  /// its chunks hold may be shared, so nothing is locked and nothing freed.
  var isForked: Bool { mc_fork_count() != forks }

  private func requireOwnProcess() {
    precondition(!isForked, "a pool made before fork() must not be used in the child; make a pool of its own there")
  }

  /// Runs `body`, which changes nothing, under the lock.
  func read<R>(_ body: () -> R) -> R {
    requireOwnProcess()
    return lock.withLock(body)
  }

  /// Runs `body` under the lock, then does what it left to be done.
  func locked<R>(_ body: (inout Aftermath) -> R) -> R {
    enter()
    let result = body(&aftermath)
    leave()
    return result
  }

  /// Takes the lock, as `locked` does. For steps of every miss, in which a closure costs references to what it captures.
  func enter() {
    requireOwnProcess()
    lock.lock()
  }

  /// Lets go of the lock, and does what was left to be done.
  func leave() {
    close()
    let sink = requests.sinkToFlush()
    let after = takeAftermath()
    lock.unlock()
    sink?.flush()
    if let after { finish(after) }
  }

  /// The last step under the lock: whatever was decided, the count is within the budget before anybody sees it.
  private func close() {
    giveBackPages()
    if !table.owed.isEmpty {
      aftermath.releases += table.owed as [AnyObject]
      table.owed.removeAll()
    }
  }

  private func takeAftermath() -> Aftermath? {
    if aftermath.isEmpty { return nil }
    let after = aftermath
    aftermath = Aftermath()
    return after
  }

  func giveBackPages() {
    let excess = ledger.pagesToGiveBack()
    if !excess.isEmpty { arena.giveBack(excess) }
    guard pagesToSpare > 0 else { return }
    let bytes = min(pagesToSpare * arena.pageSize, ledger.arena.warmBytes - ledger.pledged)
    if bytes > 0 { arena.giveBack(ledger.arena.giveBack(bytes: bytes)) }
    pagesToSpare = 0
  }

  /// Turns slots that the ledger has claimed into victims.
  func victims(in slots: [Slot], _ reason: FreeReason) -> [Victim] {
    freesRunning += slots.count
    return slots.map { table.victim(in: $0, reason) }
  }
}

/// What is left to be done when the lock is open again.
struct Aftermath {
  /// To be freed, outside any grant.
  var victims: [Victim] = []
  /// Tasks whose answer is there.
  var answered: [Request] = []
  var wakes: [@Sendable () -> Void] = []
  var events: [PoolEvent] = []
  /// References to let go of.
  var releases: [AnyObject] = []
  var isEmpty: Bool {
    victims.isEmpty && answered.isEmpty && wakes.isEmpty && events.isEmpty && releases.isEmpty
  }
}

extension PoolCore {
  /// Does what was left, without the lock. Freeing may leave more to be done; that is done too.
  ///
  /// Everything is freed before any other code of the user's runs, so that such code finds the room. It must not wait for
  /// more: the thread may be in the middle of a request, with room in its hands.
  func finish(_ first: Aftermath) {
    var rounds = [first]
    while true {
      let after = rounds[rounds.count - 1]
      for request in after.answered { request.answer() }
      let frees = after.victims.map { (victim: $0, outcome: runFree($0)) }
      if frees.isEmpty { break }
      lock.lock()
      for free in frees { finishFree(free.victim, free.outcome, &aftermath) }
      serve(&aftermath)
      close()
      let next = takeAftermath()
      lock.unlock()
      guard let next else { break }
      rounds.append(next)
    }
    Activity.run(.telling, self, nil) { _ in
      for after in rounds {
        for wake in after.wakes { wake() }
        deliver(after.events)
      }
      // The last references to what is let go of end here.
      rounds = []
    }
  }

  /// Hands events to the observer, in the order in which this thread made them.
  private func deliver(_ events: [PoolEvent]) {
    guard !events.isEmpty, let observer = lock.withLock({ observer }) else { return }
    for event in events { observer(event) }
  }
}
