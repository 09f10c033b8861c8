import ChunkLedger

// Who must go, and what is promised.
extension LedgerModel {
  enum Answer {
    case granted(victims: [Int])
    case refused
    case tooLarge(limit: Int, group: Int?)
    /// The refusal that was remembered is not the answer that a look gives.
    case rememberedWrongly
  }

  /// What one look along the line must respect.
  struct Walk {
    var protectedSince: UInt64
    var thread: UInt = 0
    var mayFreeLate = true
    /// Found protected on the way.
    var spared: [Int] = []
  }

  mutating func ask(_ request: RoomRequest) -> Answer {
    var bytes = 0
    for need in request.needs { bytes += need.bytes }
    guard bytes <= budget else { return .tooLarge(limit: budget, group: nil) }
    let named = groupsNamed(in: request.needs)
    for group in named {
      let share = share(of: group, in: request.needs)
      if share > groups[group].limit { return .tooLarge(limit: groups[group].limit, group: group) }
    }
    if !request.isBestEffort, isRemembered(bytes, named, request) {
      // A memory must never be of another opinion than a look.
      var other = self
      other.forgetRefusals()
      guard case .refused = other.ask(request) else { return .rememberedWrongly }
      return .refused
    }
    switch look(for: bytes, named, request) {
    case .enough(let victims):
      promise(bytes, named, request.needs, victims)
      return .granted(victims: victims)
    case .short where request.isBestEffort: break
    case .short(in: nil) where seesAll(request): refused = min(refused, bytes)
    case .short(in: nil): refusedInPart.append((open(to: request), bytes))
    case .short(in: let group?):
      guard open(to: request).contains(group) else { break }
      groups[group].refused = min(groups[group].refused, share(of: group, in: request.needs))
    }
    return .refused
  }

  /// How a look ended: with victims, or short of bytes, within a group's limit or at all.
  private enum Outcome {
    case enough([Int])
    case short(in: Int?)
  }

  /// Chooses victims; everybody is back in line when they do not suffice.
  private mutating func look(for needed: Int, _ named: [Int], _ request: RoomRequest) -> Outcome {
    // What needs no bytes fits, whatever is counted.
    let shortage = needed > 0 ? needed - room : 0
    var shortages: [Int] = []
    var walk = Walk(
      protectedSince: request.protectedSince, thread: request.thread, mayFreeLate: request.mayFreeLate)
    // Bytes that nobody is known to use are compared first, so that many refusals need no look.
    if shortage > bytesInLine(walk) { return .short(in: nil) }
    for group in named {
      let limit = groups[group].limit
      let bytes = share(of: group, in: request.needs)
      let short = limit == .max || bytes == 0 ? 0 : max(0, bytes - (limit - counted(in: group)))
      if short > self.bytes(where: { $0.group == group && $0.isInLine }) { return .short(in: group) }
      shortages.append(short)
    }
    var victims: [Int] = []
    for (group, short) in zip(named, shortages) {
      while sum(victims, in: group) < short {
        guard let victim = takeNext(&walk, in: group) else {
          takeBack(victims)
          return .short(in: group)
        }
        victims.append(victim)
      }
    }
    while sum(victims, in: nil) < shortage {
      guard let victim = takeNext(&walk, in: nil) else {
        takeBack(victims)
        return .short(in: nil)
      }
      victims.append(victim)
    }
    return .enough(victims)
  }

  /// Takes the chunk whose turn it is; whoever is found in use on the way is parked.
  mutating func takeNext(_ walk: inout Walk, in group: Int?) -> Int? {
    while let slot = next(walk, in: group) {
      let stamp = owner.seats[slot].stamp
      if stamp > walk.protectedSince {
        walk.spared.append(slot)
        continue
      }
      switch owner.claim(Slot(slot)) {
      case .inUse: chunks[slot].parking = .byScope
      case .held: chunks[slot].parking = .byTokens
      case .claimed:
        if owner.seats[slot].stamp != stamp {
          owner.unclaim(Slot(slot))
          continue
        }
        chunks[slot].state = .freeing
        return slot
      }
    }
    return nil
  }

  private func next(_ walk: Walk, in group: Int?) -> Int? {
    var best: Int?
    for slot in chunks.indices where chunks[slot].isInLine && !walk.spared.contains(slot) {
      if let group, chunks[slot].group != group { continue }
      guard isOpen(chunks[slot].group, walk) else { continue }
      if let known = best, !goes(slot, before: known) { continue }
      best = slot
    }
    return best
  }

  /// The order of victims. Stamps are never equal.
  private func goes(_ one: Int, before other: Int) -> Bool {
    let stamp = owner.seats[one].stamp
    let otherStamp = owner.seats[other].stamp
    if !goesByRecency {
      return chunks[one].size != chunks[other].size ? chunks[one].size > chunks[other].size : stamp < otherStamp
    }
    let age = Double(owner.now - stamp) / groups[chunks[one].group].weight
    let otherAge = Double(owner.now - otherStamp) / groups[chunks[other].group].weight
    return age != otherAge ? age > otherAge : stamp < otherStamp
  }

  private mutating func takeBack(_ victims: [Int]) {
    for victim in victims {
      owner.unclaim(Slot(victim))
      chunks[victim].state = .ready
    }
  }

  private func isRemembered(_ bytes: Int, _ named: [Int], _ request: RoomRequest) -> Bool {
    for group in named where share(of: group, in: request.needs) >= groups[group].refused { return true }
    let open = open(to: request)
    for memory in refusedInPart where !seesAll(request) && memory.open == open && bytes >= memory.bytes { return true }
    return bytes >= refused
  }

  /// Whether a request may have everything freed that anybody may have freed.
  private func seesAll(_ request: RoomRequest) -> Bool {
    request.mayFreeLate || open(to: request).count == groups.filter { $0.isLive }.count
  }

  /// The groups whose chunks a request may have freed.
  private func open(to request: RoomRequest) -> [Int] {
    let walk = Walk(protectedSince: .max, thread: request.thread, mayFreeLate: request.mayFreeLate)
    return groups.indices.filter { groups[$0].isLive && isOpen($0, walk) }
  }

  private mutating func promise(_ bytes: Int, _ named: [Int], _ needs: Few<RoomNeed>, _ victims: [Int]) {
    let held = max(0, bytes - sum(victims, in: nil))
    var arenaBytes = 0
    for need in needs { arenaBytes += need.arenaBytes }
    var inGroup = [Int](repeating: 0, count: groups.count)
    for group in named { inGroup[group] = max(0, share(of: group, in: needs) - sum(victims, in: group)) }
    let pledged = min(held, arenaBytes)
    promises.append(
      Promise(needs: needs, victims: victims, plain: held - pledged, pledged: pledged, inGroup: inGroup))
  }

  /// Whether the needs of a promise that is no more would fit.
  func canPlace(_ needs: Few<RoomNeed>) -> Bool {
    var bytes = 0
    for need in needs { bytes += need.bytes }
    for group in groupsNamed(in: needs) where groups[group].limit != .max {
      let share = share(of: group, in: needs)
      if share > 0, counted(in: group) + share > groups[group].limit { return false }
    }
    return bytes == 0 || bytes <= room
  }
}

extension LedgerModel {
  private func isOpen(_ group: Int, _ walk: Walk) -> Bool {
    groups[group].boundTo == 0 || groups[group].boundTo == walk.thread
      || walk.mayFreeLate && groups[group].boundTo != BoundThread.nobody
  }

  private func bytesInLine(_ walk: Walk) -> Int { bytes { $0.isInLine && isOpen($0.group, walk) } }

  private func sum(_ victims: [Int], in group: Int?) -> Int {
    var sum = 0
    for victim in victims where group == nil || chunks[victim].group == group { sum += chunks[victim].size }
    return sum
  }

  private func share(of group: Int, in needs: Few<RoomNeed>) -> Int {
    var bytes = 0
    for need in needs where need.group.index == group { bytes += need.bytes }
    return bytes
  }

  private func groupsNamed(in needs: Few<RoomNeed>) -> [Int] {
    var named: [Int] = []
    for need in needs where !named.contains(need.group.index) { named.append(need.group.index) }
    return named
  }
}
