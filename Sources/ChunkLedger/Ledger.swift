/// The books of a pool: what is counted, who is ready, whose turn it is to be freed.
///
/// A plain deterministic state machine. It takes no lock, knows no thread, holds no chunk and runs
/// none of the user's code: the pool puts a lock around it and does what it says, and the replayer
/// feeds it traces, so the simulator speaks for the pool because it is the same code.
///
/// The life of a slot:
///
///     grant ──place──▶ generating ──settle──▶ ready ──claim──▶ freeing ──finishFree──▶ vacant
///                          │                    └──retire──▶ retired ──▲
///                          └──abandon──▶ vacant
///
/// The promise it keeps is `counted <= budget`. Only lowering the budget can break it, by what stood
/// at that moment; `overdraft` says by how much.
package struct Ledger<Order: EvictOrder>: ~Copyable {
  /// The hard limit on everything counted, in bytes.
  package internal(set) var budget: Int
  /// How many bytes may stay ready while nobody uses them: the budget, or less under pressure.
  package internal(set) var keepLimit: Int

  /// Bytes of ready chunks, those retired but still in use included.
  package internal(set) var ready = 0
  /// Bytes promised to generations, before and while they run.
  package internal(set) var reserved = 0
  /// Bytes of chunks whose `free()` has not finished.
  package internal(set) var freeing = 0
  /// Bytes promised to arena requests that have not taken their pages yet. They may lie on pages
  /// that are free but resident, so the two are not added up.
  package internal(set) var pledged = 0
  /// The highest `counted` since the last reset, as it was seen from outside: noted when a step ends,
  /// with `pagesToGiveBack`.
  package internal(set) var peak = 0

  /// The page map of the arena, the store of buffers.
  package var arena: ArenaMap
  /// Whether a buffer that fits nowhere among resident pages has more victims go than its bytes need, where that is cheaper.
  package var freesAhead = false

  /// Rises whenever something happened that could turn a refusal into a grant.
  package internal(set) var changes: UInt64 = 0
  /// Ready chunks that are in use by something that ends by itself.
  package internal(set) var parkedScopes = 0
  /// Bytes of ready chunks that were found in use, by scopes or tokens.
  package internal(set) var parkedBytes = 0
  /// Chunks that were in use when everything was to be freed, and go when that use ends.
  package internal(set) var departing = 0

  var entries: [LedgerEntry] = []
  var positions: [Int32] = []
  var vacant: [Slot] = []
  var groups: [LedgerGroup] = [LedgerGroup(limit: .max, weight: 1)]
  var order: Order
  var refusals = RefusalBook()

  /// - Parameters:
  ///   - budget: bytes.
  ///   - pageSize: the unit in which the arena's buffers are counted, in bytes.
  package init(budget: Int, pageSize: Int, order: Order) {
    self.budget = budget
    self.keepLimit = budget
    self.arena = ArenaMap(pageSize: pageSize)
    self.order = order
  }

  /// Everything that the budget limits: ready, promised, being freed, and free but resident pages.
  package var counted: Int {
    ready + reserved + freeing + max(pledged, arena.warmBytes)
  }

  /// Bytes a newcomer can have without anything being freed. Free resident pages count as room:
  /// they are recycled, or given back before other bytes take their place.
  package var room: Int { budget - ready - reserved - freeing - pledged }

  /// Bytes by which the count exceeds the budget, because the budget was lowered under it.
  package var overdraft: Int { max(0, -room) }

  /// Slots that are not vacant.
  package var slotCount: Int { entries.count - vacant.count }

  /// Starts a new peak at what is counted now.
  package mutating func resetPeak() {
    peak = counted
  }
}

/// Where a slot stands in its life.
package enum SlotState: UInt8, Sendable {
  case vacant
  /// Room is reserved, the product is being made.
  case generating
  case ready
  /// Ready, but out of date: kept for those who were using it when it was invalidated.
  case retired
  case freeing
}

extension Ledger {
  package func state(of slot: Slot) -> SlotState { entries[slot.index].state }
  package func size(of slot: Slot) -> Int { entries[slot.index].size }
  package func group(of slot: Slot) -> GroupIndex { entries[slot.index].group }
  package func pages(of slot: Slot) -> PageRun { entries[slot.index].pages }
  package func departs(_ slot: Slot) -> Bool { entries[slot.index].departs }
  package func isParked(_ slot: Slot) -> Bool {
    entries[slot.index].standing == .parkedByScope || entries[slot.index].standing == .parkedByToken
  }

  /// All slots that are in `state`. O(slots).
  package func slots(in state: SlotState) -> [Slot] {
    var found: [Slot] = []
    for index in entries.indices where entries[index].state == state { found.append(Slot(index)) }
    return found
  }
}
