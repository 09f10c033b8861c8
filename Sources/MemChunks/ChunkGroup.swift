import CMemChunks
import ChunkLedger
import Synchronization

/// Chunks that belong together - toolbar, menu, photos - with a limit, a weight and totals of their own.
///
///     let photos = ChunkGroup(in: pool, label: "photos", limit: .megabytes(6))
///     let photo = BufferChunk(in: pool, group: photos, size: 4 * 1200 * 800) { ... }
///
/// Groups are few: making room looks at each.
public final class ChunkGroup: Sendable {
  /// What the group is called in tables and errors.
  public let label: String
  let core: PoolCore
  let index: GroupIndex

  /// Makes a group.
  ///
  /// - Parameters:
  ///   - limit: how much the group may count at most; nil for no more than the budget.
  ///   - weight: how long the group's chunks are kept beside others: one of weight 2 goes when it has been unused twice
  ///     as long as one of weight 1. Not above 0 is the least there is; what is no number is 1.
  public init(in pool: ChunkPool, label: String, limit: ByteCount? = nil, weight: Double = 1) {
    self.label = label
    core = pool.core
    index = core.addGroup(label, limit: limit?.bytes ?? .max, weight: weight)
  }

  /// The group of chunks that were given none.
  init(own core: PoolCore) {
    label = ""
    self.core = core
    index = .pool
    core.groups.append(GroupBook(label: ""))
  }

  deinit {
    if index != .pool { core.removeGroup(index) }
  }

  /// The most the group may count, in bytes; nil for no limit of its own. Lowering it frees at once.
  public var limit: ByteCount? {
    get {
      let limit = core.read { core.ledger.limit(of: index) }
      return limit == .max ? nil : .bytes(limit)
    }
    set { core.setLimit(newValue?.bytes ?? .max, of: index) }
  }

  /// How long its chunks are kept beside others; see `init`.
  public var weight: Double {
    get { core.read { core.ledger.weight(of: index) } }
    set { core.locked { _ in self.core.ledger.setWeight(Self.possible(newValue), of: self.index) } }
  }

  /// Ages are divided by weights, and compared.
  static func possible(_ weight: Double) -> Double {
    weight.isNaN ? 1 : min(max(weight, .leastNormalMagnitude), .greatestFiniteMagnitude)
  }

  /// What the group counts now, in bytes.
  public var totals: Totals {
    let totals = core.read { core.ledger.totals(of: index) }
    return Totals(ready: totals.ready, reserved: totals.reserved, freeing: totals.freeing)
  }

  /// What a group counts, in bytes.
  public struct Totals: Sendable, Equatable {
    /// Bytes of chunks that are ready.
    public var ready: Int
    /// Bytes promised to generations.
    public var reserved: Int
    /// Bytes of chunks that are being freed.
    public var freeing: Int
  }

  /// Binds the group to the calling thread: its chunks are freed on no other, as long as they have `detachProduct()`.
  ///
  /// For memory that only one thread may touch, such as textures of a graphics context. Freeing from
  /// elsewhere only queues: the bytes stay counted until the bound thread calls `freeQueued()`, or uses the pool in
  /// any way that misses. A request elsewhere that needs the room waits, if it may.
  ///
  /// A group that is bound already is taken over: what is queued is freed here and now, the other thread frees nothing of
  /// it any more.
  ///
  /// The thread must outlive the group, or another take over when it ends. Until then nobody can free the group's chunks:
  /// they stay ready and in use as before, what is queued and what is discarded stays counted, limits and pressure pass
  /// it by. Requests that need that room throw `ChunkError.noRoom`, which names the group, at once, and those that have a
  /// deadline when it has passed. So the pool's own threads, which `generate()` may run on, and those of tasks are nothing
  /// to bind a group to. Closing the pool does not help: what is queued then is kept until another thread takes over, and
  /// for ever if none does.
  ///
  /// - Parameter wake: called, on any thread and without a lock held, when something was queued and the bound thread
  ///   should call `freeQueued()` soon: for a run loop, an event file or the main actor.
  public func bindToCurrentThread(wake: (@Sendable () -> Void)? = nil) {
    core.bindToCurrentThread(index, wake)
  }

  /// Frees what was queued for the calling thread. Returns how many chunks that were.
  @discardableResult
  public func freeQueued() -> Int { core.freeQueuedHere(mc_thread_current()!) }
}

/// What the core remembers of a group, beside the ledger. Guarded by the pool's lock.
struct GroupBook {
  var label: String
  /// The number of the thread that alone frees its chunks; `BoundThread.nobody` when that has ended.
  var thread: UInt?
  var wake: (@Sendable () -> Void)?
  /// What that thread is to free, and how many bytes that are.
  private(set) var queued: [Queued] = []
  private(set) var queuedBytes = 0

  init(label: String) { self.label = label }

  mutating func queue(_ item: Queued, bytes: Int) {
    queued.append(item)
    queuedBytes += bytes
  }

  mutating func takeQueued() -> [Queued] {
    defer {
      queued = []
      queuedBytes = 0
    }
    return queued
  }

  enum Queued: @unchecked Sendable {
    case victim(Victim)
    /// The product of a chunk that is gone.
    case detached(LateFree, @Sendable () -> Void)
  }
}

extension PoolCore {
  func label(of group: GroupIndex) -> String { groups[group.index].label }

  func addGroup(_ label: String, limit: Int, weight: Double) -> GroupIndex {
    locked { _ in
      let index = self.ledger.addGroup(limit: limit, weight: ChunkGroup.possible(weight))
      while self.groups.count <= index.index { self.groups.append(GroupBook(label: "")) }
      self.groups[index.index] = GroupBook(label: label)
      return index
    }
  }

  func removeGroup(_ index: GroupIndex) {
    if isForked { return }
    locked { after in
      self.ledger.removeGroup(index)
      if let wake = self.groups[index.index].wake { after.releases.append(wake as AnyObject) }
      self.groups[index.index] = GroupBook(label: "")
    }
  }

  func setLimit(_ limit: Int, of group: GroupIndex) {
    locked { after in
      self.ledger.setLimit(limit, of: group)
      self.queue.markAll()
      self.dropSurplus(for: 0, &after)
      self.serve(&after)
    }
  }

  func bindToCurrentThread(_ group: GroupIndex, _ wake: (@Sendable () -> Void)?) {
    let farewell = Farewell.current
    farewell.add(self)
    locked { after in
      self.knowsBoundGroups.store(true, ordering: .relaxed)
      self.ledger.bind(group, to: farewell.number)
      self.groups[group.index].thread = farewell.number
      if let old = self.groups[group.index].wake { after.releases.append(old as AnyObject) }
      self.groups[group.index].wake = wake
    }
    // What another thread left.
    freeQueuedHere(mc_thread_current()!)
    locked { after in
      // What could not be freed until now may lie above a limit, and somebody may wait for it.
      self.dropSurplus(for: 0, &after)
      self.serve(&after)
    }
  }

  /// Queues a victim that only another thread may free.
  func queueIfBound(_ victim: Victim) -> FreeOutcome? {
    guard knowsBoundGroups.load(ordering: .relaxed) else { return nil }
    return lock.withLock {
      let index = victim.chunk.group.index.index
      guard let thread = groups[index].thread, thread != mc_thread_current()!.number else { return nil }
      groups[index].queue(.victim(victim), bytes: ledger.size(of: victim.slot))
      wakeBound(thread)
      return .queued(wake: groups[index].wake)
    }
  }

  /// The last reference to a chunk of a bound group goes on another thread: what frees its product is queued.
  func detachIfBound(_ chunk: MemChunk, _ slot: Slot) -> FreeOutcome? {
    let index = chunk.group.index.index
    let here = mc_thread_current()!.number
    let isElsewhere = lock.withLock { groups[index].thread != nil && groups[index].thread != here }
    guard isElsewhere else { return nil }
    // The free that it is asked for counts as running: it must not wait for that.
    guard let release = Activity.run(.telling, self, nil, { _ in chunk.detachProduct() }) else { return nil }
    let late = lock.withLock {
      let late = LateFree(self, chunk.group, bytes: ledger.size(of: slot))
      groups[index].queue(.detached(late, release), bytes: late.bytes)
      wakeBound(groups[index].thread!)
      if let wake = groups[index].wake { late.wake = wake }
      return late
    }
    return .late(late)
  }

  /// A thread that sleeps in a request of its own gets up to free what was queued for it.
  private func wakeBound(_ number: UInt) {
    guard let request = waitingRequests.first(where: { $0.thread?.number == number }) else { return }
    leavePlace(request)
    request.delivered = .drain
    request.parker!.wake()
  }

  func hasQueuedFrees(for thread: Thread?) -> Bool {
    guard let number = thread?.number else { return false }
    return groups.contains { $0.thread == number && !$0.queued.isEmpty }
  }

  @discardableResult
  func freeQueuedHere(_ thread: Thread) -> Int {
    if isForked { return 0 }
    let queued = lock.withLock { () -> [GroupBook.Queued] in
      guard hasQueuedFrees(for: thread) else { return [] }
      let number = thread.number
      var queued: [GroupBook.Queued] = []
      for index in groups.indices where groups[index].thread == number { queued += groups[index].takeQueued() }
      freesRunning += queued.count
      return queued
    }
    for item in queued {
      switch item {
      case .victim(let victim):
        let outcome = runFree(victim)
        locked { after in
          self.finishFree(victim, outcome, &after)
          self.serve(&after)
        }
      case .detached(let late, let release):
        Activity.run(.freeing, self, nil) { _ in release() }
        lock.withLock { freesRunning -= 1 }
        late.finish()
      }
    }
    return queued.count
  }
}
