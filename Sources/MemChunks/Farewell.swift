import CMemChunks
import ChunkLedger

/// What a thread leaves behind when it ends, to which groups are bound or whose hits somebody listens to: its pools are told.
///
/// The thread's own: made and changed on no other, and let go of by the system's call at its end.
final class Farewell {
  private struct Pool {
    // A thread may live long, and its pools need not.
    weak var core: PoolCore?
  }

  /// The thread's number. Unlike the address of its record, no other thread gets it.
  let number: UInt
  private var pools: [Pool] = []

  private static let key = {
    var key: UInt = 0
    let isMade = mc_make_end_key(&key) { Unmanaged<Farewell>.fromOpaque($0!).takeRetainedValue().say() }
    precondition(isMade, "the system has no key for the ends of threads left")
    return key
  }()

  /// The calling thread's.
  static var current: Farewell {
    let thread = mc_thread_current()!
    if let farewell = thread.pointee.farewell {
      return Unmanaged<Farewell>.fromOpaque(farewell).takeUnretainedValue()
    }
    let farewell = Farewell(number: UInt(mc_thread_take_number()))
    let pointer = Unmanaged.passRetained(farewell).toOpaque()
    precondition(mc_thread_at_end(key, pointer), "the system has no memory for the end of this thread")
    thread.pointee.farewell = pointer
    return farewell
  }

  private init(number: UInt) { self.number = number }

  func add(_ core: PoolCore) {
    pools.removeAll { $0.core == nil }
    if !pools.contains(where: { $0.core === core }) { pools.append(Pool(core: core)) }
  }

  /// The thread ends. What still runs on it, another's call at its end, may bind anew, and then has a new number.
  private func say() {
    mc_thread_current()!.pointee.farewell = nil
    mc_thread_current()!.pointee.hits_owner = 0
    mc_thread_drop_number()
    for pool in pools { pool.core?.threadEnded(number) }
  }
}

// Groups whose thread has ended hold what nobody can free, until another thread is bound to them.
extension PoolCore {
  fileprivate func threadEnded(_ number: UInt) {
    if isForked { return }
    locked { after in
      self.hits?.threadEnded(number)
      for index in self.groups.indices where self.groups[index].thread == number {
        self.groups[index].thread = BoundThread.nobody
        if let wake = self.groups[index].wake { after.releases.append(wake as AnyObject) }
        self.groups[index].wake = nil
        self.ledger.bind(GroupIndex(index), to: BoundThread.nobody)
      }
      // Who waited for it does so in vain.
      self.serve(&after)
    }
  }

  /// Bytes that are to be freed, and by nobody.
  var strandedFrees: Int {
    groups.reduce(0) { $1.thread == BoundThread.nobody ? $0 + $1.queuedBytes : $0 }
  }

  /// The groups that count bytes which nobody can free.
  var strandedGroups: [GroupIndex] {
    groups.indices.filter { groups[$0].thread == BoundThread.nobody }.map { GroupIndex($0) }
      .filter { strandedBytes(of: $0) > 0 }
  }

  private func strandedBytes(of group: GroupIndex) -> Int {
    let totals = ledger.totals(of: group)
    return totals.ready + totals.freeing
  }

  /// Whether a request needs what nobody can free, whatever else ends: the place of such a chunk, or more room than all
  /// others could make, in the pool or within the limit of such a group.
  func isStranded(_ request: Request) -> Bool {
    let stranded = strandedGroups.map { (group: $0, bytes: strandedBytes(of: $0)) }
    guard !stranded.isEmpty else { return false }
    var needs = Few<RoomNeed>()
    for (chunk, quote) in zip(request.chunks, request.quotes) where !chunk.isReady {
      needs.append(RoomNeed(bytes: quote.reservation, group: chunk.group.index))
      if chunk.laneCount == 1, chunk.books[0] >= 0, ledger.state(of: Slot(Int(chunk.books[0]))) == .freeing,
        groups[chunk.group.index.index].thread == BoundThread.nobody
      {
        return true
      }
    }
    let room = RoomRequest(needs)
    return room.bytes > ledger.budget - stranded.reduce(0) { $0 + $1.bytes }
      || stranded.contains { room.bytesTogether(in: $0.group) > max(0, ledger.limit(of: $0.group) - $0.bytes) }
  }
}
