/// What the books say of one slot.
struct LedgerEntry {
  var size = 0
  var group = GroupIndex.pool
  var state = SlotState.vacant
  var standing = Standing.none
  /// Goes when its last use ends, whatever the limits are then.
  var departs = false
  /// Its pages in the arena; none when the chunk owns its memory.
  var pages = PageRun(start: 0, count: 0)
  /// The stamp at which the key in the heap was computed.
  var lookedAt: UInt64 = 0

  /// Where a ready slot waits to be a victim.
  enum Standing: UInt8 {
    /// Not at all: not ready, retired, or of no bytes.
    case none
    case inHeap
    /// In use when it was looked at; out of the heap until that use ends.
    case parkedByScope
    case parkedByToken
  }
}

/// What the books say of one group.
struct LedgerGroup {
  var limit: Int
  var weight: Double
  var heap = VictimHeap()
  var ready = 0
  var reserved = 0
  var freeing = 0
  /// Promised to a grant whose victims are still being freed.
  var held = 0
  /// Bytes of the chunks in the heap: the most that freeing could bring.
  var heapBytes = 0
  /// The thread that alone may free its chunks.
  var boundTo = BoundThread.any
  var isLive = true
  var refusal = RefusalMemory()

  init(limit: Int, weight: Double) {
    self.limit = limit
    self.weight = weight
  }

  var counted: Int { ready + reserved + freeing + held }

  /// Whether a request from `thread` may free chunks of this group, now or late.
  func isOpen(to thread: UInt, late: Bool) -> Bool {
    boundTo == BoundThread.any || boundTo == thread || late && boundTo != BoundThread.nobody
  }
}

/// What a group can be bound to beside the number of a thread.
package enum BoundThread {
  /// To none: everybody may free its chunks.
  package static let any: UInt = 0
  /// To one that has ended: nobody may, not even late.
  package static let nobody = UInt.max
}

/// The refusals that are remembered, by what the requests might have freed.
struct RefusalBook {
  /// The groups that a request could free: all that anybody can, or those bound to none and to one thread.
  enum View: Equatable {
    case all
    case thread(UInt)
  }

  private var all = RefusalMemory()
  /// Since something last changed: as many as there are bound threads at most, and one.
  private var narrow: [(view: View, memory: RefusalMemory)] = []
  private var changes = UInt64.max

  /// So many bytes, and more, are refused to everybody; `.max` where nothing is known.
  func least(at changes: UInt64) -> Int { all.least(at: changes) }

  /// What is refused to whoever may free all is refused to everybody.
  func covers(_ bytes: Int, _ view: View, at changes: UInt64) -> Bool {
    all.covers(bytes, at: changes) || narrow.contains { $0.view == view && $0.memory.covers(bytes, at: changes) }
  }

  mutating func note(_ bytes: Int, _ view: View, at changes: UInt64) {
    guard view != .all else { return all.note(bytes, at: changes) }
    if self.changes != changes { narrow.removeAll(keepingCapacity: true) }
    self.changes = changes
    guard let index = narrow.firstIndex(where: { $0.view == view }) else {
      var memory = RefusalMemory()
      memory.note(bytes, at: changes)
      return narrow.append((view, memory))
    }
    narrow[index].memory.note(bytes, at: changes)
  }
}

/// The smallest request that was refused since something last changed: nobody gets as much until it does again.
struct RefusalMemory {
  private var bytes = Int.max
  private var changes = UInt64.max

  /// So many bytes, and more, are refused; `.max` where nothing is known.
  func least(at changes: UInt64) -> Int { self.changes == changes ? bytes : .max }

  func covers(_ bytes: Int, at changes: UInt64) -> Bool { bytes >= least(at: changes) }

  mutating func note(_ bytes: Int, at changes: UInt64) {
    self.bytes = self.changes == changes ? min(self.bytes, bytes) : bytes
    self.changes = changes
  }
}
