// A wish for chunks, from the use to the answer.
extension PoolModel {
  enum Purpose { case touch, hold, prefetch }

  /// One try: an answer, or something changed and it must be looked at again.
  private enum Try {
    case answer(Answer)
    case again
  }

  /// Wants chunks, each named once. `several` says that they were wanted in one call for several.
  mutating func want(_ wanted: [Chunk], _ purpose: Purpose, several: Bool = false, sparing: Int = .max) -> Answer {
    if purpose != .prefetch { for chunk in wanted { chunk.stamp = tick() } }
    let isHit = !several && wanted.allSatisfy { $0.product != nil }
    // What was only waiting to go goes first, and is a miss.
    if !isHit { visit() }
    if purpose != .prefetch {
      for chunk in wanted { if chunk.product == nil { misses += 1 } else { hits += 1 } }
    }
    if isHit {
      if purpose == .hold { for chunk in wanted { chunk.product!.users += 1 } }
      return .ready
    }
    while true {
      guard case .answer(let answer) = attempt(wanted, purpose, sparing) else { continue }
      switch answer {
      case .tooLarge, .noRoom, .invalidSize: if purpose != .prefetch, !isAfterward { refusals += 1 }
      default: break
      }
      isAfterward = false
      return answer
    }
  }

  private mutating func attempt(_ wanted: [Chunk], _ purpose: Purpose, _ sparing: Int) -> Try {
    let missing = wanted.filter { $0.product == nil }
    if missing.contains(where: { $0.retired.count == $0.lanes }) { return .answer(refusal(wanted)) }
    if missing.contains(where: { $0.declared < 0 }) { return .answer(.invalidSize) }
    // What is there must not be freed for what is not.
    var held: [(Chunk, Product)] = []
    if purpose == .hold {
      for chunk in wanted where chunk.product != nil { hold(chunk, &held) }
    }
    guard !missing.isEmpty else { return .answer(.ready) }
    if let error = exceededLimit(missing, wanted) {
      letGo(held)
      return .answer(error)
    }
    let since = min(protectedSince, sparing)
    let spare = purpose == .prefetch ? budget - keepLimit : 0
    guard let victims = victims(for: missing.map { ($0.group, $0.need) }, since, spare) else {
      let before = freed.count
      letGo(held)
      return freed.count > before ? .again : .answer(refusal(wanted))
    }
    makeRoom(victims, missing, dropsSurplus: purpose != .prefetch)
    // Some of it may come back late.
    guard fits(missing.map { ($0.group, $0.need) }) else {
      letGo(held)
      return .again
    }
    for chunk in missing { reserved[chunk.group] += chunk.need }
    var isStale = false
    for (index, chunk) in missing.enumerated() {
      let isInvalidated = chunk.next == .isInvalidated
      let rest = missing[(index + 1)...]
      let toCome = rest.reduce(0) { $0 + $1.need }
      if let error = generate(chunk, purpose, sparing, toCome, &held) {
        for other in rest { reserved[other.group] -= other.need }
        letGo(held)
        isAfterward = true
        return .answer(error)
      }
      isStale = isStale || isInvalidated
    }
    guard isStale else { return .answer(.ready) }
    letGo(held)
    // For a prefetch nobody waits, so it does not begin again.
    return purpose == .prefetch ? .answer(.failed) : .again
  }

  /// Makes one product in its reserved room; an error if that fails.
  private mutating func generate(
    _ chunk: Chunk, _ purpose: Purpose, _ sparing: Int, _ toCome: Int, _ held: inout [(Chunk, Product)]
  ) -> Answer? {
    let next = chunk.next
    chunk.next = .works
    var reservation = chunk.need
    if next == .fails {
      reserved[chunk.group] -= reservation
      failures += 1
      return .failed
    }
    let size = chunk.sizeAfter ?? chunk.size
    var error: Answer? = size < 0 ? .invalidSize : nil
    if size > reservation {
      error = grow(chunk, from: reservation, to: size, toCome, purpose, sparing)
      if error == nil { reservation = size }
    }
    reserved[chunk.group] -= reservation
    generations += 1
    let product = Product(size: min(max(0, size), reservation))
    bytesGenerated += product.size
    if error != nil || next == .isInvalidated {
      if error != nil { failures += 1 }
      finishFree(chunk, product, "invalidated")
      return error
    }
    chunk.product = product
    chunk.stamp = tick()
    if purpose == .hold { hold(chunk, &held) }
    if next == .isDiscarded {
      product.departure = "discarded"
      lingering.append(chunk)
    }
    return nil
  }

  /// Room for what came out larger.
  private mutating func grow(
    _ chunk: Chunk, from reservation: Int, to size: Int, _ toCome: Int, _ purpose: Purpose, _ sparing: Int
  ) -> Answer? {
    let limit = min(budget, groupLimits[chunk.group] ?? .max)
    if size > limit {
      return .tooLarge(needed: size, limit: limit, group: limit < budget ? groupNames[chunk.group] : nil)
    }
    let more = [(chunk.group, size - reservation)]
    let spare = purpose == .prefetch ? budget - keepLimit : 0
    guard let victims = victims(for: more, min(protectedSince, sparing), spare) else {
      return .noRoomAfter(needed: size)
    }
    for victim in victims { free(victim, "room") }
    guard fits(more) else { return .noRoomAfter(needed: size) }
    reserved[chunk.group] += size - reservation
    if purpose != .prefetch { dropSurplus(for: size + toCome) }
    return nil
  }

  private mutating func hold(_ chunk: Chunk, _ held: inout [(Chunk, Product)]) {
    chunk.product!.users += 1
    held.append((chunk, chunk.product!))
  }

  private mutating func letGo(_ held: [(Chunk, Product)]) {
    for (chunk, product) in held { endUse(of: chunk, product) }
  }

  private func refusal(_ wanted: [Chunk]) -> Answer {
    .noRoom(
      needed: wanted.reduce(0) { $0 + $1.quoted }, free: max(0, room), pinned: pinned, framed: framed, freeing: freeing)
  }

  /// Whether they could be there together at all.
  private func exceededLimit(_ missing: [Chunk], _ wanted: [Chunk]) -> Answer? {
    func together(_ group: Int?) -> Int {
      wanted.reduce(0) { $0 + (group == nil || $1.group == group ? $1.product?.size ?? $1.need : 0) }
    }
    if together(nil) > budget { return .tooLarge(needed: together(nil), limit: budget, group: nil) }
    for group in missing.map(\.group) {
      guard let limit = groupLimits[group], together(group) > limit else { continue }
      return .tooLarge(needed: together(group), limit: limit, group: groupNames[group])
    }
    return nil
  }

  /// The chunks to free: each group's own for what its limit lacks, then whoever was not used for longest. Nil if
  /// that is not enough.
  private func victims(for needs: [(group: Int, bytes: Int)], _ since: Int, _ spare: Int) -> [Chunk]? {
    var line = line(usedUntil: since).filter { $0.product!.size > 0 }
    var chosen: [Chunk] = []
    func gain(in group: Int? = nil) -> Int {
      chosen.reduce(0) { $0 + (group == nil || $1.group == group ? $1.product!.size : 0) }
    }
    var seen: [Int] = []
    for (group, _) in needs where !seen.contains(group) {
      seen.append(group)
      let bytes = needs.reduce(0) { $0 + ($1.group == group ? $1.bytes : 0) }
      guard let limit = groupLimits[group], bytes > 0 else { continue }
      let already = gain(in: group)
      while gain(in: group) - already < bytes - (limit - counted(in: group)) {
        guard let index = line.firstIndex(where: { $0.group == group }) else { return nil }
        chosen.append(line.remove(at: index))
      }
    }
    let bytes = needs.reduce(0) { $0 + $1.bytes }
    while bytes > 0, gain() < bytes + spare - room {
      guard !line.isEmpty else { return nil }
      chosen.append(line.removeFirst())
    }
    return chosen
  }

  private func fits(_ needs: [(group: Int, bytes: Int)]) -> Bool {
    for (group, _) in needs {
      let bytes = needs.reduce(0) { $0 + ($1.group == group ? $1.bytes : 0) }
      if bytes > 0, let limit = groupLimits[group], bytes > limit - counted(in: group) { return false }
    }
    let bytes = needs.reduce(0) { $0 + $1.bytes }
    return bytes == 0 || bytes <= room
  }

  /// Frees the victims, and what may not be kept beside the newcomers.
  private mutating func makeRoom(_ victims: [Chunk], _ missing: [Chunk], dropsSurplus: Bool) {
    let going = victims.map { chunk in
      defer { chunk.product = nil }
      return (chunk, chunk.product!)
    }
    if dropsSurplus { dropSurplus(for: missing.reduce(0) { $0 + $1.need }) }
    for (chunk, product) in going { finishFree(chunk, product, "room") }
  }

  /// Readies chunks in the background, one after the other; those that it readied.
  mutating func prefetch(_ wanted: [Chunk]) -> [Chunk] {
    let sparing = min(tick(), protectedSince, previousFrameStart ?? .max)
    var done: [Chunk] = []
    for chunk in wanted where chunk.product == nil {
      switch want([chunk], .prefetch, sparing: sparing) {
      case .ready: done.append(chunk)
      case .noRoom, .noRoomAfter: return done
      default: break
      }
    }
    return done
  }
}
