// What happens to one slot, from reservation to vacancy. Each step is O(1), or O(log n) where it
// enters or leaves a heap.
extension Ledger {
  /// Takes the room of one need of a grant that has been released in the same step.
  ///
  /// Returns nil when the arena has no run of pages long enough: the caller adds address space first.
  package mutating func place(_ need: RoomNeed) -> Slot? {
    var pages = PageRun(start: 0, count: 0)
    if need.arenaBytes > 0 {
      guard let run = arena.allocate(bytes: need.arenaBytes) else { return nil }
      pages = run
    }
    let slot = takeSlot()
    entries[slot.index] = LedgerEntry(size: need.bytes, group: need.group, state: .generating, pages: pages)
    reserved += need.bytes
    groups[need.group.index].reserved += need.bytes
    return slot
  }

  /// Adds a plain need to what a generating slot has reserved: its product came out larger.
  package mutating func extend(_ slot: Slot, by bytes: Int) {
    entries[slot.index].size += bytes
    reserved += bytes
    groups[entries[slot.index].group.index].reserved += bytes
  }

  /// The product is there and counts `size` from now on, at most what was reserved.
  package mutating func settle(_ slot: Slot, size: Int, use: ChunkUse) {
    let entry = entries[slot.index]
    precondition(entry.state == .generating && size <= entry.size, "settled more than was reserved")
    entries[slot.index].size = size
    entries[slot.index].state = .ready
    reserved -= entry.size
    ready += size
    groups[entry.group.index].reserved -= entry.size
    groups[entry.group.index].ready += size
    enterHeap(slot, use)
    changes &+= 1
  }

  /// The generation failed, or was given up: nothing stays reserved.
  package mutating func abandon(_ slot: Slot) {
    let entry = entries[slot.index]
    precondition(entry.state == .generating)
    reserved -= entry.size
    groups[entry.group.index].reserved -= entry.size
    returnPages(entry.pages)
    forgetDeparture(slot)
    giveBackSlot(slot)
  }

  /// A ready product is out of date but in use: it is no victim, and goes when that use ends.
  package mutating func retire(_ slot: Slot) {
    leaveLine(slot)
    forgetDeparture(slot)
    entries[slot.index].state = .retired
  }

  /// A ready or retired product that nobody can use any more is about to be freed.
  package mutating func beginFreeing(_ slot: Slot) {
    let entry = entries[slot.index]
    leaveLine(slot)
    entries[slot.index].state = .freeing
    ready -= entry.size
    freeing += entry.size
    groups[entry.group.index].ready -= entry.size
    groups[entry.group.index].freeing += entry.size
  }

  /// `free()` has returned: the bytes leave the count, all but those that it hands back late.
  ///
  /// Late bytes stay counted as being freed, without a slot, until `finishLate`.
  package mutating func finishFree(_ slot: Slot, late: Int = 0) {
    let entry = entries[slot.index]
    precondition(entry.state == .freeing && late <= entry.size && (late == 0 || entry.pages.count == 0))
    freeing -= entry.size - late
    groups[entry.group.index].freeing -= entry.size - late
    returnPages(entry.pages)
    forgetDeparture(slot)
    giveBackSlot(slot)
  }

  /// Bytes that `free()` handed back late are back.
  package mutating func finishLate(_ bytes: Int, group: GroupIndex) {
    freeing -= bytes
    groups[group.index].freeing -= bytes
    changes &+= 1
  }

  /// The last use of a parked chunk has ended: it is in line again.
  package mutating func unpark(_ slot: Slot, use: ChunkUse) {
    precondition(isParked(slot))
    leaveLine(slot)
    enterHeap(slot, use)
    changes &+= 1
  }

  /// Parks a ready chunk that is in use, or says anew by what it is held.
  package mutating func park(_ slot: Slot, byTokens: Bool) {
    leaveLine(slot)
    park(slot, byTokens ? .parkedByToken : .parkedByScope)
    changes &+= 1
  }

  /// The chunk goes as soon as it is unused.
  package mutating func markDeparting(_ slot: Slot) {
    guard !entries[slot.index].departs else { return }
    entries[slot.index].departs = true
    departing += 1
  }
}

extension Ledger {
  mutating func park(_ slot: Slot, _ standing: LedgerEntry.Standing) {
    leaveLine(slot)
    entries[slot.index].standing = standing
    parkedBytes += entries[slot.index].size
    if standing == .parkedByScope { parkedScopes += 1 }
  }

  mutating func leaveHeap(_ slot: Slot) {
    let entry = entries[slot.index]
    guard entry.standing == .inHeap else { return }
    groups[entry.group.index].heap.remove(slot, &positions)
    groups[entry.group.index].heapBytes -= entry.size
    entries[slot.index].standing = .none
  }

  /// A chunk of no bytes stays out of the line: freeing it makes no room.
  mutating func enterHeap(_ slot: Slot, _ use: ChunkUse) {
    entries[slot.index].lookedAt = use.stamp
    enterHeap(slot, key: order.key(for: use, size: entries[slot.index].size))
  }

  mutating func enterHeap(_ slot: Slot, key: UInt64) {
    let entry = entries[slot.index]
    guard entry.size > 0 else { return }
    groups[entry.group.index].heap.insert(slot, key: key, &positions)
    groups[entry.group.index].heapBytes += entry.size
    entries[slot.index].standing = .inHeap
  }

  mutating func postpone(_ slot: Slot, _ use: ChunkUse) {
    let entry = entries[slot.index]
    entries[slot.index].lookedAt = use.stamp
    groups[entry.group.index].heap.postponeLeast(until: order.key(for: use, size: entry.size), &positions)
  }

  private mutating func leaveLine(_ slot: Slot) {
    leaveHeap(slot)
    if isParked(slot) { parkedBytes -= entries[slot.index].size }
    if entries[slot.index].standing == .parkedByScope { parkedScopes -= 1 }
    entries[slot.index].standing = .none
  }

  private mutating func forgetDeparture(_ slot: Slot) {
    guard entries[slot.index].departs else { return }
    entries[slot.index].departs = false
    departing -= 1
  }

  private mutating func returnPages(_ pages: PageRun) {
    if pages.count > 0 { arena.free(pages) }
  }

  private mutating func takeSlot() -> Slot {
    if let slot = vacant.popLast() { return slot }
    entries.append(LedgerEntry())
    positions.append(-1)
    return Slot(entries.count - 1)
  }

  private mutating func giveBackSlot(_ slot: Slot) {
    entries[slot.index] = LedgerEntry()
    vacant.append(slot)
    changes &+= 1
  }
}

extension Ledger {
  /// Ready slots that go as soon as they are unused. O(slots).
  package func departingSlots() -> [Slot] {
    var found: [Slot] = []
    for index in entries.indices where entries[index].departs && entries[index].state == .ready {
      found.append(Slot(index))
    }
    return found
  }

  /// Something outside the books changed that could turn a refusal into a grant: a frame ended.
  package mutating func noteChange() { changes &+= 1 }
}
