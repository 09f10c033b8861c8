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
  /// The thread that alone may free its chunks; 0 for any.
  var boundTo: UInt = 0
  var isLive = true
  var refusal = RefusalMemory()

  init(limit: Int, weight: Double) {
    self.limit = limit
    self.weight = weight
  }

  var counted: Int { ready + reserved + freeing + held }

  /// Whether a request from `thread` may free chunks of this group, now or late.
  func isOpen(to thread: UInt, late: Bool) -> Bool { boundTo == 0 || late || boundTo == thread }
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
