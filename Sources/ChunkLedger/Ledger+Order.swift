// What an order of victims learns, and changes.
extension Ledger {
  /// Whether the order wants `note`.
  package var wantsRequests: Bool { order.wantsRequests }

  /// Whether it matters to the order what generating takes.
  package var weighsCosts: Bool { order.weighsCosts }

  /// Computes the key of one chunk anew, O(log n): its cost has changed without a use.
  package mutating func renewKey<Owner: LedgerOwner & ~Copyable>(of slot: Slot, _ owner: borrowing Owner) {
    guard entries[slot.index].standing == .inHeap else { return }
    leaveHeap(slot)
    enterHeap(slot, owner.use(of: slot))
  }

  /// Tells the order of a request for a chunk.
  package mutating func note(number: UInt32, size: Int, cost: UInt64) {
    guard order.wantsRequests, number != 0 else { return }
    order.note(
      OrderedRequest(
        number: number, size: size, cost: cost, budget: budget, residents: slotCount))
  }

  /// Computes all keys anew where the order has changed its mind, O(n log n). To be done before a look along the line and
  /// not when the order is told: it may still have to hear of uses that the chunks know of.
  mutating func renewKeys<Owner: LedgerOwner & ~Copyable>(_ owner: borrowing Owner) {
    guard order.takeKeyChange() else { return }
    for index in entries.indices where entries[index].standing == .inHeap {
      let slot = Slot(index)
      leaveHeap(slot)
      enterHeap(slot, owner.use(of: slot))
    }
  }

  /// Takes back the claims of victims that turned out not to be needed, of the last one first: it is the one whose turn
  /// was furthest away. A small chunk that was claimed before a large one goes on being ready.
  mutating func spareExcess<Owner: LedgerOwner & ~Copyable>(
    _ shortage: Int, _ shares: GroupShares, _ look: inout Look, _ owner: inout Owner
  ) {
    var gained = look.claimed.reduce(0) { $0 + entries[$1.index].size }
    for index in look.claimed.indices.reversed() where gained > shortage {
      let slot = look.claimed[index]
      let size = entries[slot.index].size
      guard gained - size >= shortage, !isNeeded(slot, shares, look) else { continue }
      takeBack(slot, key: look.keys[index], &owner)
      gained -= size
      look.claimed.remove(at: index)
      look.keys.remove(at: index)
    }
  }

  /// Whether the limit of a claimed chunk's group needs it to go.
  private func isNeeded(_ slot: Slot, _ shares: GroupShares, _ look: Look) -> Bool {
    let group = entries[slot.index].group
    guard let share = shares.items.first(where: { $0.group == group }), share.shortage > 0 else { return false }
    let gained = look.claimed.reduce(0) { $0 + (entries[$1.index].group == group ? entries[$1.index].size : 0) }
    return gained - entries[slot.index].size < share.shortage
  }
}
