import ChunkLedger

// Limits that move, groups that come and go, frames, and what goes because of them.
extension LedgerDriver {
  mutating func moveLimits() {
    switch random.below(7) {
    case 0, 1:
      let bytes = random.percent(60) ? 2_000 : random.from(800, to: 2_400)
      ledger.setBudget(bytes)
      model.budget = bytes
    case 2:
      let bytes = random.percent(60) ? model.budget : random.below(model.budget)
      ledger.setKeepLimit(bytes)
      model.keepLimit = bytes
    case 3, 4:
      guard let group = randomGroup() else { return }
      let limit = random.percent(40) ? Int.max : random.from(200, to: 1_200)
      ledger.setLimit(limit, of: group)
      model.groups[group.index].limit = limit
    case 5:
      guard let group = randomGroup() else { return }
      // The weight turns no refusal into a grant.
      model.groups[group.index].weight = Self.weight(random.below(5))
      return ledger.setWeight(model.groups[group.index].weight, of: group)
    default:
      guard let group = randomGroup() else { return }
      let thread = random.percent(10) ? BoundThread.nobody : UInt(random.below(4))
      ledger.bind(group, to: thread)
      model.groups[group.index].boundTo = thread
    }
    model.forgetRefusals()
  }

  private static func weight(_ number: Int) -> Double {
    switch number {
    case 0: 0.25
    case 1: 3
    case 2: 4
    default: 1
    }
  }

  /// One that may have limits: not the pool's own.
  private mutating func randomGroup() -> GroupIndex? {
    let live = model.groups.indices.filter { $0 > 0 && model.groups[$0].isLive }
    return random.pick(live).map { GroupIndex($0) }
  }

  mutating func changeGroups() {
    let live = model.groups.indices.filter { model.groups[$0].isLive }
    if live.count < 4 || random.percent(30) && live.count < 6 {
      let limit = random.percent(50) ? Int.max : random.from(200, to: 1_200)
      let weight = Self.weight(random.below(8))
      let thread = UInt(random.percent(30) ? random.from(1, to: 3) : 0)
      let group = ledger.addGroup(limit: limit, weight: weight, boundTo: thread)
      while model.groups.count <= group.index { model.groups.append(.init(limit: .max, weight: 1, isLive: false)) }
      expect(!model.groups[group.index].isLive, "a group was given a number that is taken")
      model.groups[group.index] = .init(limit: limit, weight: weight, boundTo: thread)
    } else if let group = randomGroup(), !isNamed(group) {
      ledger.removeGroup(group)
      model.groups[group.index] = .init(limit: .max, weight: 1, isLive: false)
    }
  }

  private func isNamed(_ group: GroupIndex) -> Bool {
    for chunk in model.chunks where chunk.state != .vacant && chunk.group == group.index { return true }
    for part in model.late where part.group == group.index { return true }
    var needs = lastRefused?.needs ?? .none
    for promise in model.promises { needs += promise.needs }
    for need in needs where need.group == group { return true }
    return false
  }
}

extension LedgerDriver {
  mutating func changeFrames() {
    // Short ones, or everything would be protected most of the time.
    guard frames.count > 1 || !frames.isEmpty && random.percent(80) else {
      if !frames.isEmpty || random.percent(40) { frames.append(owner.now) }
      return
    }
    frames.remove(at: random.below(frames.count))
    ledger.noteChange()
    model.forgetRefusals()
    let departing = model.slots { $0.departs && $0.state == .ready }
    compare(ledger.departingSlots(), departing)
    for slot in departing { claimUnprotected(slot) }
  }

  mutating func dropSurplus() {
    switch random.below(4) {
    case 0:
      let stamp = owner.now - min(owner.now, UInt64(random.below(120)))
      let victims = ledger.claimUnused(since: stamp, protectedSince: protectedSince, owner: &owner)
      compare(victims, model.claimUnused(since: stamp, protectedSince: protectedSince))
      tally.surplusVictims += victims.count
    case 1: dropSurplus(above: random.below(model.budget))
    default: dropSurplus(above: model.keepLimit)
    }
    if random.percent(10) {
      ledger.resetPeak()
      model.peak = model.counted
    }
  }

  private mutating func dropSurplus(above target: Int) {
    expect(ledger.hasSurplus(above: target) == model.hasSurplus(above: target), "one side sees a surplus")
    let victims = ledger.claimSurplus(above: target, protectedSince: protectedSince, owner: &owner)
    compare(victims, model.claimSurplus(above: target, protectedSince: protectedSince))
    expect(ledger.slots(in: .ready).count == model.slots { $0.state == .ready }.count, "the ready slots differ")
    tally.surplusVictims += victims.count
  }
}
