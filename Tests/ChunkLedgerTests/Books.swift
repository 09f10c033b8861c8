import ChunkLedger
import ChunkLedgerModel

/// A ledger with an owner for its chunks, and the steps that a pool does in one go.
final class Books<Order: EvictOrder> {
  var ledger: Ledger<Order>
  var owner = ScriptedOwner()

  init(budget: Int, pageSize: Int = 10, order: Order) {
    ledger = Ledger(budget: budget, pageSize: pageSize, order: order)
  }

  /// A chunk that is ready and was used just now.
  @discardableResult
  func add(_ size: Int, group: GroupIndex = .pool, inArena: Bool = false) -> Slot {
    let slot = place(RoomNeed(bytes: size, group: group, arenaBytes: inArena ? size : 0))
    settle(slot)
    return slot
  }

  func add(_ sizes: [Int], group: GroupIndex = .pool) -> [Slot] { sizes.map { add($0, group: group) } }

  /// Takes room that is known to be free, or has been promised. The arena grows by itself.
  func place(_ need: RoomNeed) -> Slot {
    var slot = ledger.place(need)
    if slot == nil {
      ledger.arena.addCapacity(pages: 1_000, at: ledger.arena.capacity)
      slot = ledger.place(need)
    }
    owner.seat(in: slot!)
    return slot!
  }

  func settle(_ slot: Slot, size: Int? = nil) {
    owner.touch(slot)
    ledger.settle(slot, size: size ?? ledger.size(of: slot), use: owner.use(of: slot))
  }

  func ask(_ request: RoomRequest) -> Answer {
    switch ledger.requestRoom(for: request, owner: &owner) {
    case .granted(let grant):
      lastGrant = grant
      return .granted(grant.victims)
    case .refused: return .refused
    case .tooLarge(let limit, let group): return .tooLarge(limit, group)
    }
  }

  func ask(
    _ bytes: Int, group: GroupIndex = .pool, protectedSince: UInt64 = .max, thread: UInt = 0, mayFreeLate: Bool = true,
    isBestEffort: Bool = false
  ) -> Answer {
    ask(
      RoomRequest(
        [RoomNeed(bytes: bytes, group: group)], protectedSince: protectedSince, thread: thread,
        mayFreeLate: mayFreeLate, isBestEffort: isBestEffort))
  }

  /// The last grant that was given.
  private(set) var lastGrant: Grant?

  /// Frees the victims of a grant and takes its room: what a pool does in one step.
  func complete(_ grant: Grant) -> [Slot] {
    for victim in grant.victims { ledger.finishFree(victim) }
    ledger.release(grant)
    return grant.needs.map { place($0) }
  }

  func giveBackPages() -> Int { ledger.pagesToGiveBack().reduce(0) { $0 + $1.count } }

  // Expectations cannot call a noncopyable value themselves.
  func state(_ slot: Slot) -> SlotState { ledger.state(of: slot) }
  func isParked(_ slot: Slot) -> Bool { ledger.isParked(slot) }
  func departs(_ slot: Slot) -> Bool { ledger.departs(slot) }
  func hasSurplus(above target: Int) -> Bool { ledger.hasSurplus(above: target) }
  func canPlace(_ grant: Grant) -> Bool { ledger.canPlace(grant) }
  var broken: String? { ledger.firstBrokenInvariant().map { "\($0)" } }

  /// What was answered, in a form that can be compared.
  enum Answer: Equatable {
    case granted([Slot])
    case refused
    case tooLarge(Int, GroupIndex?)
  }
}

extension Books where Order == LeastRecentlyUsed {
  convenience init(budget: Int, pageSize: Int = 10) {
    self.init(budget: budget, pageSize: pageSize, order: LeastRecentlyUsed())
  }
}

/// A page map that expectations can ask to change.
final class Pages {
  private(set) var map = ArenaMap(pageSize: 1)

  init(_ pages: Int) {
    if pages > 0 { addPiece(pages, at: 0) }
  }

  func addPiece(_ pages: Int, at start: Int) { map.addCapacity(pages: pages, at: start) }
  func allocate(_ count: Int) -> PageRun? { map.allocate(bytes: count) }
  func free(_ run: PageRun) { map.free(run) }
  func giveBack(_ count: Int) -> [PageRun] { Array(map.giveBack(bytes: count)) }
  var broken: String? { map.firstBrokenInvariant().map { "\($0)" } }
}
