/// A ledger without chunks: fed with requests, it says which would have been hits.
///
/// It holds numbers, sizes and costs only, and decides with the pool's own ledger, one request after the other: room
/// first, nothing pinned. So it tells what another budget or another order would have made of the same requests. The
/// replayer is this, and the shadows from which `Adaptive` chooses are this.
package final class ShadowCache<Order: EvictOrder> {
  // Never used from two threads at once, nor from inside itself: checking that took a fifth of the time.
  @exclusivity(unchecked) private var ledger: Ledger<Order>
  @exclusivity(unchecked) private var objects: ShadowObjects

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
    let place = objects.place(of: number)
    if objects.items[place].number != number {
      forget(place)
      objects.items[place].number = number
    }
    objects.touch(place)
    if objects.items[place].slot >= 0 {
      note(place, ledger.size(of: Slot(Int(objects.items[place].slot))))
      return true
    }
    objects.items[place].cost = cost
    let need = RoomNeed(bytes: size, group: .pool)
    guard case .granted(let grant) = ledger.requestRoom(for: RoomRequest([need]), owner: &objects) else { return false }
    for victim in grant.victims { vacate(victim) }
    ledger.release(grant)
    // A need without pages of the arena always finds its place.
    let slot = ledger.place(need)!
    objects.seat(place, in: slot)
    note(place, size)
    ledger.settle(slot, size: size, use: objects.use(of: slot))
    return false
  }

  private func note(_ place: Int, _ size: Int) {
    let object = objects.items[place]
    ledger.note(number: object.number, size: size, cost: object.cost)
  }

  private func vacate(_ slot: Slot) {
    objects.clear(slot)
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
    now += 1
    items[place].stamp = now
    items[place].uses += 1
  }

  mutating func seat(_ place: Int, in slot: Slot) {
    while seats.count <= slot.index { seats.append(-1) }
    seats[slot.index] = Int32(place)
    items[place].slot = Int32(slot.index)
  }

  mutating func clear(_ slot: Slot) {
    items[Int(seats[slot.index])].slot = -1
    seats[slot.index] = -1
  }

  func use(of slot: Slot) -> ChunkUse {
    let item = items[Int(seats[slot.index])]
    return ChunkUse(stamp: item.stamp, uses: item.uses, cost: item.cost, number: item.number)
  }

  mutating func claim(_ slot: Slot) -> Claim { .claimed }
  mutating func unclaim(_ slot: Slot) {}
}
