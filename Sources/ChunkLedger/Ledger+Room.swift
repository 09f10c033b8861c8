/// One thing that needs room.
package struct RoomNeed: Sendable {
  /// Bytes needed while it is generated: its size, or the working peak it declared.
  package var bytes: Int
  package var group: GroupIndex
  /// How many of the bytes are pages of the arena.
  package var arenaBytes: Int

  package init(bytes: Int, group: GroupIndex, arenaBytes: Int = 0) {
    self.bytes = bytes
    self.group = group
    self.arenaBytes = arenaBytes
  }
}

/// A request for room, for one chunk or for several at once.
package struct RoomRequest: Sendable {
  package var needs: Few<RoomNeed>
  /// What was asked for in the same request and is there already: it needs no room, but it counts towards the limits,
  /// since all must be there at once.
  package var present: Few<RoomNeed> = .none
  /// Chunks used after this stamp are protected: a frame is open since then.
  package var protectedSince: UInt64
  /// The number of the thread that asks; it may free the groups bound to it.
  package var thread: UInt
  /// Whether chunks that only another thread may free can be victims; their bytes come late.
  package var mayFreeLate: Bool
  /// What is protected is this request's own choice, so that its refusal says nothing to others.
  package var isBestEffort: Bool
  /// Bytes of room that it must not take.
  package var spareRoom = 0

  package init(
    _ needs: Few<RoomNeed>, protectedSince: UInt64 = .max, thread: UInt = 0, mayFreeLate: Bool = true,
    isBestEffort: Bool = false
  ) {
    self.needs = needs
    self.protectedSince = protectedSince
    self.thread = thread
    self.mayFreeLate = mayFreeLate
    self.isBestEffort = isBestEffort
  }

  package var bytes: Int { needs.reduce(0) { min($0 + $1.bytes, .max / 2) } }

  /// Bytes that must be there together, in all or in one group.
  package func bytesTogether(in group: GroupIndex? = nil) -> Int {
    // More than any budget is enough to know; the sum itself might overflow.
    func add(_ sum: Int, _ need: RoomNeed) -> Int {
      min(sum + (group == nil || group == need.group ? need.bytes : 0), .max / 2)
    }
    return present.reduce(needs.reduce(0, add), add)
  }
}

/// Room that is promised: nobody else gets it, while the victims are freed outside the lock.
package struct Grant: Sendable {
  package let needs: Few<RoomNeed>
  /// In the order in which they were chosen; their slots are `freeing`.
  package let victims: [Slot]
  /// Part of `reserved` until the victims are gone.
  var heldPlain: Int
  /// Part of `pledged` until the victims are gone.
  var heldPledged: Int
  /// What it needs from each group, and what that holds back for it.
  var shares: GroupShares
}

package enum RoomAnswer: Sendable {
  case granted(Grant)
  /// Not now. Nothing was freed.
  case refused
  /// Never, under this limit: the budget, or the group's.
  case tooLarge(limit: Int, group: GroupIndex?)
}

extension Ledger {
  /// Promises room for `request`, choosing victims if it must; frees nothing if it cannot.
  ///
  /// Looks first, then frees: victims are claimed one by one, and if they do not suffice every claim
  /// is taken back. A refusal costs little: the bytes that stand in the heaps are compared before
  /// anything is claimed, what is found in use leaves the heap until its use ends, and a refusal
  /// is remembered until something changes.
  package mutating func requestRoom<Owner: LedgerOwner & ~Copyable>(
    for request: RoomRequest, owner: inout Owner
  ) -> RoomAnswer {
    let bytes = request.bytes
    guard request.bytesTogether() <= budget else { return .tooLarge(limit: budget, group: nil) }
    let shares = GroupShares(of: request, in: self)
    for share in shares.items where request.bytesTogether(in: share.group) > groups[share.group.index].limit {
      return .tooLarge(limit: groups[share.group.index].limit, group: share.group)
    }
    guard !isRefusalRemembered(bytes, shares, request) else { return .refused }

    var look = Look(request)
    // What needs no bytes fits even where too much is counted already.
    let shortage = bytes > 0 ? bytes + request.spareRoom - room : 0
    let shortfall = claim(shortage, shares, &look, &owner)
    if shortfall == nil {
      if order.sparesExcess { spareExcess(shortage, shares, &look, &owner) }
      claimAhead(for: request, &look, &owner)
    }
    finish(&look, owner)
    if let shortfall {
      for (slot, key) in zip(look.claimed, look.keys).reversed() { takeBack(slot, key: key, &owner) }
      rememberRefusal(bytes, shortfall, request)
      return .refused
    }
    confirm(look)
    return .granted(promise(request, shares, victims: look.claimed))
  }

  /// What cannot be had.
  private enum Shortfall {
    /// So many bytes at all.
    case pool
    /// So many within the limit of a group.
    case group(GroupShares.Item)
  }

  /// Claims until `shortage` bytes and each group's own shortage are covered. Nil if that works.
  private mutating func claim<Owner: LedgerOwner & ~Copyable>(
    _ shortage: Int, _ shares: GroupShares, _ look: inout Look, _ owner: inout Owner
  ) -> Shortfall? {
    guard shortage <= claimableBytes(look) else { return .pool }
    for share in shares.items where share.shortage > groups[share.group.index].heapBytes { return .group(share) }
    var gained = 0
    for share in shares.items {
      var groupGained = 0
      while groupGained < share.shortage {
        guard let slot = claimNext(&look, in: share.group, &owner) else { return .group(share) }
        groupGained += entries[slot.index].size
      }
      gained += groupGained
    }
    while gained < shortage {
      guard let slot = claimNext(&look, in: nil, &owner) else { return .pool }
      gained += entries[slot.index].size
    }
    return nil
  }

  private mutating func promise(_ request: RoomRequest, _ shares: consuming GroupShares, victims: [Slot]) -> Grant {
    let fromVictims = victims.reduce(0) { $0 + entries[$1.index].size }
    let held = max(0, request.bytes - fromVictims)
    let pledgedPart = min(held, request.needs.reduce(0) { $0 + $1.arenaBytes })
    for index in shares.items.indices {
      let share = shares.items[index]
      var fromGroup = 0
      for victim in victims where entries[victim.index].group == share.group { fromGroup += entries[victim.index].size }
      shares.items[index].held = max(0, share.bytes - fromGroup)
      groups[share.group.index].held += shares.items[index].held
    }
    reserved += held - pledgedPart
    pledged += pledgedPart
    return Grant(
      needs: request.needs, victims: victims, heldPlain: held - pledgedPart, heldPledged: pledgedPart, shares: shares)
  }

  /// Ends a grant: what it held back is room again. Called when its victims are gone and the room is
  /// taken in the same step, or when it is given up.
  package mutating func release(_ grant: Grant) {
    reserved -= grant.heldPlain
    pledged -= grant.heldPledged
    for share in grant.shares.items { groups[share.group.index].held -= share.held }
    changes &+= 1
  }

  /// Whether the needs of a grant that has just been released can be taken. Not so when a victim hands back its bytes
  /// late.
  package func canPlace(_ grant: Grant) -> Bool {
    var bytes = 0
    for share in grant.shares.items {
      let group = groups[share.group.index]
      if share.bytes > max(0, group.limit - group.counted) { return false }
      bytes += share.bytes
    }
    return bytes <= max(0, room)
  }

  /// Pages to give back to the system, so that what is free but resident fits beside what is
  /// counted. The caller must do so before it lets go of its lock, as the last thing of each step.
  package mutating func pagesToGiveBack() -> Few<PageRun> {
    var counted = counted
    var pages = Few<PageRun>()
    if counted > budget, arena.warmBytes > pledged {
      pages = arena.giveBack(bytes: min(counted - budget, arena.warmBytes - pledged))
      counted = self.counted
    }
    // Not earlier: room is taken first and pages are given back for it afterwards, which nobody sees.
    peak = max(peak, counted)
    return pages
  }

  /// How many bytes, and more, are known to be refused to a request for a group as long as nothing changes; `.max` where
  /// nothing is known.
  package func refusedBytes(in group: GroupIndex) -> Int {
    min(refusals.least(at: changes), groups[group.index].refusal.least(at: changes))
  }

  private func isRefusalRemembered(_ bytes: Int, _ shares: GroupShares, _ request: RoomRequest) -> Bool {
    guard !request.isBestEffort else { return false }
    return refusals.covers(bytes, view(of: request), at: changes)
      || shares.items.contains { groups[$0.group.index].refusal.covers($0.bytes, at: changes) }
  }

  private mutating func rememberRefusal(_ bytes: Int, _ shortfall: Shortfall, _ request: RoomRequest) {
    guard !request.isBestEffort else { return }
    switch shortfall {
    case .pool: refusals.note(bytes, view(of: request), at: changes)
    case .group(let share):
      // Who may not free the group's chunks was refused for that reason alone, and nothing was looked at.
      guard groups[share.group.index].isOpen(to: request.thread, late: request.mayFreeLate) else { return }
      groups[share.group.index].refusal.note(share.bytes, at: changes)
    }
  }

  private func view(of request: RoomRequest) -> RefusalBook.View {
    let seesAll = request.mayFreeLate || !groups.contains { !$0.isOpen(to: request.thread, late: false) }
    if seesAll { return .all }
    return .thread(groups.contains { $0.boundTo == request.thread } ? request.thread : BoundThread.any)
  }
}

/// What a request needs from each group, and by how much that group's limit falls short.
struct GroupShares {
  struct Item {
    var group: GroupIndex
    var bytes: Int
    var shortage = 0
    /// What the group holds back until the victims are gone, once this is granted.
    var held = 0
  }

  var items: Few<Item>

  init(of request: RoomRequest, in ledger: borrowing Ledger<some EvictOrder>) {
    // One for each group, in the order of first mention. Requests name a handful of groups at most.
    items = .none
    for need in request.needs {
      if let index = items.firstIndex(where: { $0.group == need.group }) {
        items[index].bytes += need.bytes
      } else {
        items.append(Item(group: need.group, bytes: need.bytes))
      }
    }
    for index in items.indices {
      let group = ledger.groups[items[index].group.index]
      guard group.limit != .max, items[index].bytes > 0 else { continue }
      items[index].shortage = max(0, items[index].bytes - (group.limit - group.counted))
    }
  }
}
