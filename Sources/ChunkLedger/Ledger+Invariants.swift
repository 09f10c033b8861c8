extension Ledger {
  /// Recounts everything and compares; returns the first thing that is wrong, nil when all is well. O(slots), for tests.
  package func firstBrokenInvariant() -> StaticString? {
    var sums = LedgerGroup(limit: .max, weight: 1)
    var retired = 0
    var parkedScopes = 0
    var parkedBytes = 0
    var departing = 0
    var used = 0
    for index in entries.indices {
      let entry = entries[index]
      used += entry.pages.count
      if entry.departs { departing += 1 }
      if entry.standing == .parkedByScope { parkedScopes += 1 }
      if isParked(Slot(index)) { parkedBytes += entry.size }
      switch entry.state {
      case .vacant: if entry.size != 0 || entry.standing != .none { return "a vacant slot is not empty" }
      case .generating: sums.reserved += entry.size
      case .ready: sums.ready += entry.size
      case .retired:
        sums.ready += entry.size
        retired += 1
      case .freeing: sums.freeing += entry.size
      }
      if entry.standing != .none, entry.state != .ready { return "a chunk that is not ready is in line" }
      if entry.state == .ready, entry.size > 0, entry.standing == .none { return "a ready chunk is not in line" }
      if entry.standing == .inHeap {
        let position = Int(positions[index])
        let items = groups[entry.group.index].heap.items
        guard items.indices.contains(position), items[position].slot.index == index else {
          return "a heap position is wrong"
        }
      }
    }
    if ready != sums.ready { return "ready is not the sum of the ready" }
    if reserved < sums.reserved { return "reserved is less than what generations hold" }
    if freeing < sums.freeing { return "freeing is less than what is being freed" }
    if parkedScopes != self.parkedScopes || parkedBytes != self.parkedBytes { return "parked totals are wrong" }
    if departing != self.departing { return "departing is wrong" }
    if used != arena.usedPages { return "the arena's used pages are not those of its chunks" }
    if pledged < 0 || reserved < 0 || freeing < 0 { return "a total is negative" }
    return firstBrokenGroup() ?? arena.firstBrokenInvariant()
  }

  private func firstBrokenGroup() -> StaticString? {
    var total = LedgerGroup(limit: .max, weight: 1)
    for index in groups.indices {
      let group = groups[index]
      total.ready += group.ready
      total.freeing += group.freeing
      if group.held < 0 { return "a group holds less than nothing" }
      var bytes = 0
      for (position, item) in group.heap.items.enumerated() {
        let entry = entries[item.slot.index]
        if entry.group.index != index || entry.standing != .inHeap { return "a heap holds a stranger" }
        if position > 0, group.heap.items[(position - 1) / 2].key > item.key { return "a heap is out of order" }
        bytes += entry.size
      }
      if bytes != group.heapBytes { return "a group's heap bytes are wrong" }
    }
    if total.ready != ready || total.freeing != freeing { return "the groups' totals are not the pool's" }
    return nil
  }
}

extension ArenaMap {
  /// Recounts pages and free runs; returns the first thing that is wrong. O(pages ever used).
  package func firstBrokenInvariant() -> StaticString? {
    var page = 0
    var used = 0
    var warm = 0
    var previous: Int32 = 0
    while page < frontier {
      let edge = marks[page].edge
      let length = Int(abs(edge))
      guard length > 0 else {
        // A gap between two pieces counts as used here.
        used += 1
        previous = 0
        page += 1
        continue
      }
      if previous.signum() == edge.signum() { return "two free runs of a kind touch" }
      if page + length > frontier || marks[page + length - 1].edge != edge { return "a free run's edges differ" }
      if edge > 0 { warm += length }
      previous = edge
      page += length
    }
    if warm != warmPages { return "warm pages are miscounted" }
    if used < usedPages { return "more pages are used than are not free" }
    return nil
  }
}
