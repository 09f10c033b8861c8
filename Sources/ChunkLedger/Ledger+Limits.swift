// The limits, and what lies above them.
extension Ledger {
  package mutating func setBudget(_ bytes: Int) {
    budget = bytes
    changes &+= 1
  }

  package mutating func setKeepLimit(_ bytes: Int) {
    keepLimit = bytes
    changes &+= 1
  }

  /// Opens a group. O(groups).
  package mutating func addGroup(limit: Int, weight: Double, boundTo thread: UInt = BoundThread.any) -> GroupIndex {
    var group = LedgerGroup(limit: limit, weight: weight)
    group.boundTo = thread
    if let free = groups.firstIndex(where: { !$0.isLive }) {
      groups[free] = group
      return GroupIndex(free)
    }
    groups.append(group)
    return GroupIndex(groups.count - 1)
  }

  /// Closes a group that no chunk belongs to any more.
  package mutating func removeGroup(_ index: GroupIndex) {
    precondition(index != .pool && groups[index.index].counted == 0)
    groups[index.index] = LedgerGroup(limit: .max, weight: 1)
    groups[index.index].isLive = false
  }

  package mutating func setLimit(_ limit: Int, of group: GroupIndex) {
    groups[group.index].limit = limit
    changes &+= 1
  }

  package mutating func setWeight(_ weight: Double, of group: GroupIndex) {
    groups[group.index].weight = weight
  }

  package func limit(of group: GroupIndex) -> Int { groups[group.index].limit }
  package func weight(of group: GroupIndex) -> Double { groups[group.index].weight }

  /// Bytes of a group: ready, reserved, being freed.
  package func totals(of group: GroupIndex) -> (ready: Int, reserved: Int, freeing: Int) {
    let group = groups[group.index]
    return (group.ready, group.reserved, group.freeing)
  }

  /// Whether `claimSurplus` would have something to do. O(groups).
  package func hasSurplus(above target: Int) -> Bool {
    ready > target || ready + reserved + pledged > budget
      || groups.contains { $0.limit != .max && $0.counted - $0.freeing > $0.limit }
  }

  /// Claims unused chunks, the one whose turn it is first, until at most `target` bytes are ready,
  /// no group is over its limit, and the count is within the budget.
  ///
  /// What is in use is parked on the way, so that its end is noticed. Used after lowering a limit, under
  /// pressure, and when a use ended that stood in the way.
  package mutating func claimSurplus<Owner: LedgerOwner & ~Copyable>(
    above target: Int, protectedSince: UInt64, owner: inout Owner
  ) -> [Slot] {
    var look = Look(protectedSince: protectedSince)
    for index in groups.indices where groups[index].limit != .max {
      while groups[index].counted - groups[index].freeing > groups[index].limit,
        claimNext(&look, in: GroupIndex(index), &owner) != nil
      {}
    }
    // What is being freed already is on its way out and needs no second victim.
    while ready > target || ready + reserved + pledged > budget, claimNext(&look, in: nil, &owner) != nil {}
    finish(&look, owner)
    confirm(look)
    return look.claimed
  }

  /// Claims unused chunks that were last used at `stamp` or before.
  package mutating func claimUnused<Owner: LedgerOwner & ~Copyable>(
    since stamp: UInt64, protectedSince: UInt64, owner: inout Owner
  ) -> [Slot] {
    var look = Look(protectedSince: min(stamp, protectedSince))
    while claimNext(&look, in: nil, &owner) != nil {}
    finish(&look, owner)
    confirm(look)
    return look.claimed
  }

  /// Claims one chunk out of turn, whatever its size; nil when a frame protects it, or when it is in use, and then it
  /// is parked.
  package mutating func claim<Owner: LedgerOwner & ~Copyable>(
    _ slot: Slot, protectedSince: UInt64 = .max, owner: inout Owner
  ) -> Slot? {
    guard entries[slot.index].state == .ready, owner.use(of: slot).stamp <= protectedSince else { return nil }
    switch owner.claim(slot) {
    case .inUse: park(slot, byTokens: false)
    case .held: park(slot, byTokens: true)
    case .claimed:
      // A hit may have come between the look and the claim, as in `claimNext`.
      guard owner.use(of: slot).stamp <= protectedSince else {
        owner.unclaim(slot)
        return nil
      }
      beginFreeing(slot)
      return slot
    }
    return nil
  }
}

extension Ledger {
  /// Says which thread alone may free the chunks of `group`, by a number that no other thread has; see `BoundThread` for
  /// the numbers that are no thread's.
  package mutating func bind(_ group: GroupIndex, to thread: UInt) {
    groups[group.index].boundTo = thread
    changes &+= 1
  }
}
