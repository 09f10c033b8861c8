/// A ledger without chunks: fed with requests, it says which would have been hits.
///
/// It holds numbers, sizes and costs only, and decides with the pool's own ledger, one request after the other: room
/// first, nothing pinned. So it tells what another budget or another order would have made of the same requests. The
/// replayer is this, and the shadows from which `Adaptive` chooses are this.
///
/// What is generated from others takes two steps: between `begin` and `end` there is room for it, and the others are asked
/// for.
package final class ShadowCache<Order: EvictOrder> {
  // Never used from two threads at once, nor from inside itself: checking that took a fifth of the time.
  @exclusivity(unchecked) private var ledger: Ledger<Order>
  @exclusivity(unchecked) private var objects: ShadowObjects
  /// Told of each number that is freed.
  package var onFree: ((UInt32) -> Void)?

  /// - Parameters:
  ///   - budget: bytes.
  ///   - capacity: how many numbers are told apart, a power of two. Of two that are so far apart, the older is forgotten.
  package init(budget: Int, order: Order, capacity: Int) {
    ledger = Ledger(budget: budget, pageSize: 4_096, order: order)
    objects = ShadowObjects(capacity: capacity)
  }

  /// What the order has come to.
  var order: Order { ledger.order }

  /// Follows a budget that moves.
  package func setBudget(_ budget: Int) {
    guard budget != ledger.budget else { return }
    ledger.setBudget(budget)
    for slot in ledger.claimSurplus(above: budget, protectedSince: .max, owner: &objects) { vacate(slot) }
  }

  /// One request: true for a hit. O(log n) amortised.
  package func use(_ number: UInt32, size: Int, cost: UInt64) -> Bool {
    switch begin(number, reserving: size, cost: cost) {
    case .hit: return true
    case .refused: return false
    case .room:
      end(number, size: size)
      return false
    }
  }

  /// A request: a hit, or room for as many bytes, which `end` must follow, or not even that.
  package func begin(_ number: UInt32, reserving bytes: Int, cost: UInt64) -> ReplayStep {
    let place = objects.place(of: number)
    if objects.items[place].number != number {
      forget(place)
      objects.items[place].number = number
    }
    objects.touch(place)
    if objects.items[place].slot >= 0 {
      note(place, ledger.size(of: Slot(Int(objects.items[place].slot))))
      return .hit
    }
    objects.items[place].cost = cost
    let need = RoomNeed(bytes: bytes, group: .pool)
    guard case .granted(let grant) = ledger.requestRoom(for: RoomRequest(.one(need)), owner: &objects) else {
      return .refused
    }
    for victim in grant.victims { vacate(victim) }
    ledger.release(grant)
    // A need without pages of the arena always finds its place.
    objects.seat(place, in: ledger.place(need)!)
    return .room
  }

  /// The product for which there was room is there.
  package func end(_ number: UInt32, size: Int) {
    let place = objects.place(of: number)
    let slot = Slot(Int(objects.items[place].slot))
    objects.stamp(place)
    note(place, size)
    ledger.settle(slot, size: size, use: objects.use(of: slot))
  }

  /// Whether a request would be a hit.
  package func isReady(_ number: UInt32) -> Bool {
    let item = objects.items[objects.place(of: number)]
    return item.number == number && item.slot >= 0
  }

  /// Has what generating takes be asked for whenever it matters, instead of taking what was said last.
  package func setCosts(_ cost: @escaping (UInt32) -> UInt64) { objects.costNow = cost }

  /// What generating a number takes has changed. O(log n).
  package func renewKey(of number: UInt32) {
    let item = objects.items[objects.place(of: number)]
    if item.slot >= 0 { ledger.renewKey(of: Slot(Int(item.slot)), objects) }
  }

  private func note(_ place: Int, _ size: Int) {
    let object = objects.items[place]
    ledger.note(number: object.number, size: size, cost: object.cost)
  }

  private func vacate(_ slot: Slot) {
    let number = objects.clear(slot)
    onFree?(number)
    ledger.finishFree(slot)
  }

  private func forget(_ place: Int) {
    if objects.items[place].slot >= 0 {
      let slot = Slot(Int(objects.items[place].slot))
      ledger.beginFreeing(slot)
      vacate(slot)
    }
    objects.items[place] = ShadowObjects.Item()
  }
}

/// What comes of a request that is replayed.
package enum ReplayStep: Sendable {
  case hit
  /// A miss, for which there is room now.
  case room
  /// A miss that nothing was freed for: there would not be room if everything else went.
  case refused
}

/// Who sits in a shadow's slots.
struct ShadowObjects: LedgerOwner {
  struct Item {
    var number: UInt32 = 0
    var slot: Int32 = -1
    var stamp: UInt64 = 0
    var uses: UInt64 = 0
    var cost: UInt64 = 0
  }

  private(set) var now: UInt64 = 0
  var costNow: ((UInt32) -> UInt64)?
  var items: [Item] = []
  private var seats: [Int32] = []
  private let capacity: Int

  init(capacity: Int) {
    precondition(capacity > 0 && capacity & (capacity - 1) == 0)
    self.capacity = capacity
  }

  /// Where a number is kept: numbers follow each other, so those that meet are the furthest apart.
  mutating func place(of number: UInt32) -> Int {
    let place = Int(number) & (capacity - 1)
    while items.count <= place { items.append(Item()) }
    return place
  }

  mutating func touch(_ place: Int) {
    stamp(place)
    items[place].uses += 1
  }

  mutating func stamp(_ place: Int) {
    now += 1
    items[place].stamp = now
  }

  mutating func seat(_ place: Int, in slot: Slot) {
    while seats.count <= slot.index { seats.append(-1) }
    seats[slot.index] = Int32(place)
    items[place].slot = Int32(slot.index)
  }

  /// Who sat there.
  mutating func clear(_ slot: Slot) -> UInt32 {
    let place = Int(seats[slot.index])
    items[place].slot = -1
    seats[slot.index] = -1
    return items[place].number
  }

  func use(of slot: Slot) -> ChunkUse {
    let item = items[Int(seats[slot.index])]
    return ChunkUse(stamp: item.stamp, uses: item.uses, cost: costNow?(item.number) ?? item.cost, number: item.number)
  }

  mutating func claim(_ slot: Slot) -> Claim { .claimed }
  mutating func unclaim(_ slot: Slot) {}
}
