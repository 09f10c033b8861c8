// Changes from outside.
extension PoolModel {
  /// What the pool does whenever it does something slow on behalf of somebody.
  mutating func visit() {
    noteTime()
    if pressureLevel == 0, pressureShare < 1 {
      let steps = (time - lastRecovery) / Self.recoveryStep
      if steps > 0 {
        lastRecovery += steps * Self.recoveryStep
        pressureShare = min(1, pressureShare + 0.25 * Double(min(steps, 4)))
      }
    }
    for chunk in lingering { departIfUnused(chunk) }
    lingering = []
  }

  /// Two seconds.
  static let recoveryStep: UInt64 = 2_000_000_000

  mutating func noteTime() {
    if visits.last?.time == time { visits.removeLast() }
    visits.append((time, clock))
  }

  mutating func invalidate(_ chunk: Chunk) {
    guard let product = chunk.product else { return }
    product.departure = nil
    if product.users > 0 {
      chunk.product = nil
      chunk.retired.append(product)
    } else {
      free(chunk, "invalidated")
    }
  }

  mutating func discard(_ chunk: Chunk) {
    if chunk.product != nil { depart(chunk, "discarded") }
  }

  mutating func freeAll() {
    freeSurplus(above: 0, "all")
    for chunk in chunks where chunk.product != nil { depart(chunk, "all") }
  }

  mutating func trim(to target: Int) {
    freeSurplus(above: target, "trimmed")
    var staying = ready
    for chunk in chunks.sorted(by: { $0.stamp < $1.stamp }) {
      guard let product = chunk.product, product.size > 0, staying > target else { continue }
      staying -= product.size
      depart(chunk, "trimmed")
    }
  }

  /// Frees what was last used so long ago. How long ago is known exactly for the last visits, and roughly for those
  /// before: then fewer may be freed, which `count` says.
  mutating func free(unusedFor age: UInt64, count: Int) {
    noteTime()
    guard time >= age, let cut = visits.lastIndex(where: { $0.time <= time - age }) else { return }
    let line = line(usedUntil: min(visits[cut].stamp, protectedSince)).filter { $0.product!.size > 0 }
    let isExact = visits.count - cut <= 60
    for chunk in isExact ? line : Array(line.prefix(count)) { free(chunk, "unused") }
  }

  mutating func setBudget(_ bytes: Int) {
    budget = bytes
    dropSurplus()
  }

  mutating func setKeepLimit(_ bytes: Int?) {
    chosenKeepLimit = bytes
    dropSurplus()
  }

  mutating func setLimit(_ bytes: Int?, of group: Int) {
    groupLimits[group] = bytes
    dropSurplus()
  }

  mutating func report(_ level: Int) {
    let rises = level > pressureLevel
    pressureLevel = level
    if level == 0 {
      lastRecovery = time
      return
    }
    let share = level == 1 ? 0.5 : 0
    pressureShare = rises ? min(pressureShare, share) : share
    dropSurplus()
  }

  mutating func beginFrame(_ id: Int) { frames.append((id, tick())) }

  mutating func endFrame(_ id: Int) {
    let index = frames.firstIndex { $0.id == id }!
    previousFrameStart = frames.remove(at: index).start
    noteTime()
    for chunk in chunks { departIfUnused(chunk) }
    dropSurplus()
  }

  /// Whether the last reference to it can go: nobody uses it, and the pool keeps it for nothing.
  func canDrop(_ chunk: Chunk) -> Bool { !chunk.isUsed && !lingering.contains { $0 === chunk } }

  mutating func drop(_ chunk: Chunk) {
    if chunk.product != nil { free(chunk, "dropped") }
    chunks.removeAll { $0 === chunk }
  }

  mutating func finishLate(at index: Int) { late.remove(at: index) }
}
