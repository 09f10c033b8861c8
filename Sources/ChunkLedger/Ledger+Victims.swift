/// One look along the line of victims.
struct Look {
  let protectedSince: UInt64
  let thread: UInt
  let mayFreeLate: Bool
  var claimed: [Slot] = []
  /// Their keys, for the order to age by, if they do go.
  var keys: [UInt64] = []
  /// Groups in which everything that is left is protected.
  private(set) var exhausted = Few<Int>()
  /// Protected chunks taken out of heaps whose order is not by recency, to be put back.
  var aside = Few<Slot>()

  init(_ request: RoomRequest) {
    self.init(
      protectedSince: request.protectedSince, thread: request.thread, mayFreeLate: request.mayFreeLate)
  }

  init(protectedSince: UInt64, thread: UInt = 0, mayFreeLate: Bool = true) {
    self.protectedSince = protectedSince
    self.thread = thread
    self.mayFreeLate = mayFreeLate
  }

  mutating func claim(_ slot: Slot, key: UInt64) {
    if claimed.isEmpty {
      // Where one is not enough, there are many, of all sizes.
      claimed.reserveCapacity(16)
      keys.reserveCapacity(16)
    }
    claimed.append(slot)
    keys.append(key)
  }

  mutating func exhaust(_ group: Int) { exhausted.append(group) }
}

extension Ledger {
  /// Claims the chunk whose turn it is, of one group or of all: exact under the ledger's order.
  ///
  /// The least key in a heap may be old. Its chunk is looked at: used since, it goes back with its
  /// true key; in use, it is parked; else it is claimed, and its stamp is read a second time, because
  /// a hit may have come between the look and the claim. O(log n) amortised over hits, plus the number
  /// of groups.
  mutating func claimNext<Owner: LedgerOwner & ~Copyable>(
    _ look: inout Look, in only: GroupIndex?, _ owner: inout Owner
  ) -> Slot? {
    renewKeys(owner)
    while let group = only.map({ isOpen($0.index, look) ? $0.index : nil }) ?? groupToLookAt(look, owner) {
      let least = groups[group].heap.least!
      let slot = least.slot
      let use = owner.use(of: slot)
      if use.stamp != entries[slot.index].lookedAt {
        postpone(slot, use)
        continue
      }
      if use.stamp > look.protectedSince {
        if order.followsRecency {
          look.exhaust(group)
        } else {
          leaveHeap(slot)
          look.aside.append(slot)
        }
        continue
      }
      switch owner.claim(slot) {
      case .inUse: park(slot, .parkedByScope)
      case .held: park(slot, .parkedByToken)
      case .claimed:
        let again = owner.use(of: slot)
        if again.stamp != use.stamp {
          owner.unclaim(slot)
          postpone(slot, again)
          continue
        }
        look.claim(slot, key: least.key)
        beginFreeing(slot)
        return slot
      }
    }
    return nil
  }

  /// Puts back what a look set aside.
  mutating func finish<Owner: LedgerOwner & ~Copyable>(_ look: inout Look, _ owner: borrowing Owner) {
    for slot in look.aside { enterHeap(slot, owner.use(of: slot)) }
    look.aside = .none
  }

  /// What was claimed does go.
  mutating func confirm(_ look: Look) {
    for key in look.keys { order.chose(key: key) }
  }

  /// Takes a claim back. The chunk stands in line where it stood: having been looked at is no use.
  mutating func takeBack<Owner: LedgerOwner & ~Copyable>(_ slot: Slot, key: UInt64, _ owner: inout Owner) {
    owner.unclaim(slot)
    let entry = entries[slot.index]
    entries[slot.index].state = .ready
    freeing -= entry.size
    ready += entry.size
    groups[entry.group.index].freeing -= entry.size
    groups[entry.group.index].ready += entry.size
    enterHeap(slot, key: key)
  }

  /// The most that claiming could bring.
  func claimableBytes(_ look: Look) -> Int {
    groups.reduce(0) { $0 + ($1.isOpen(to: look.thread, late: look.mayFreeLate) ? $1.heapBytes : 0) }
  }

  private func isOpen(_ group: Int, _ look: Look) -> Bool {
    groups[group].heap.least != nil && groups[group].isOpen(to: look.thread, late: look.mayFreeLate)
      && !look.exhausted.contains(group)
  }

  /// The group whose least chunk is next of all: by key, or by age over weight where weights differ.
  ///
  /// The keys may be too low, never too high; the caller corrects the one chosen and asks again, so
  /// the answer is exact in the end. Linear in the groups, which are few.
  private func groupToLookAt<Owner: LedgerOwner & ~Copyable>(_ look: Look, _ owner: borrowing Owner) -> Int? {
    if groups.count == 1 { return isOpen(0, look) ? 0 : nil }
    let weighs = order.followsRecency && groups.contains { $0.weight != 1 }
    let now = owner.now
    var best: (group: Int, key: UInt64, age: Double)?
    for index in groups.indices where isOpen(index, look) {
      let key = groups[index].heap.least!.key
      let age = weighs ? Double(now - min(now, key)) / groups[index].weight : 0
      guard let known = best else {
        best = (index, key, age)
        continue
      }
      if weighs ? (age, known.key) > (known.age, key) : key < known.key { best = (index, key, age) }
    }
    return best?.group
  }
}
