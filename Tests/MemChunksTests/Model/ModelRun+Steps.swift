import MemChunks
import TestSupport

// Which operation comes next, and whether the pool is as the model says.
extension ModelRun {
  func run(steps count: Int) {
    while steps < count, mistake == nil { step() }
    finish()
  }

  func step() {
    guard mistake == nil else { return }
    steps += 1
    switch below(100) {
    case 0..<24: touch(anyPair())
    case 24..<34: if depth < 3 { scope([anyPair()], several: false) }
    case 34..<39: if depth < 3 { scope(someChunks(), several: true) }
    case 39..<44: if tokens.count < 6 { pin([anyPair()], several: false) }
    case 44..<47: if tokens.count < 6 { pin(someChunks(), several: true) }
    case 47..<56: unpin()
    case 56..<58: if frames.count < 3 { beginFrame() }
    case 58..<61: endFrame()
    case 61..<63: if depth < 3 { frame() }
    case 63..<65: prefetch(someChunks())
    case 65..<92: change()
    default: changeLimits()
    }
    check()
  }

  private func change() {
    let pair = anyPair()
    switch below(27) {
    case 0..<4:
      note("invalidate \(pair.model.name)")
      pair.real.invalidate()
      model.invalidate(pair.model)
    case 4..<8:
      note("discard \(pair.model.name)")
      pair.real.discard()
      model.discard(pair.model)
    case 8..<12: update(pair)
    case 12..<15: drop(pair)
    case 15..<18:
      pair.model.next = [.fails, .isInvalidated, .isDiscarded][below(3)]
      pair.script.next.set(pair.model.next)
      note("next of \(pair.model.name): \(pair.model.next)")
    case 18..<20:
      guard pair.real is TrackedChunk else { return }
      pair.model.late = pair.model.late == nil ? below(20_000) : nil
      pair.script.late.set(pair.model.late)
      note("late \(pair.model.name): \(pair.model.late ?? -1)")
    case 20..<25: finishLate()
    default: absurd(pair)
    }
  }

  private func update(_ pair: Pair) {
    let size = anySize()
    let peak = below(3) == 0 ? anySize() : nil
    pair.model.declared = size
    pair.model.declaredPeak = peak
    switch pair.real {
    case let chunk as TrackedChunk:
      chunk.declaredSize = size
      chunk.peak = peak
      let after = below(2) == 0 ? [0, anySize(), -1][below(3)] : nil
      chunk.sizeAfter = after
      pair.model.sizeAfter = after
      note("resize \(pair.model.name) to \(size), \(peak ?? -1), \(after ?? -2)")
    case let chunk as ValueChunk<UInt8>:
      note("update \(pair.model.name) to \(size), \(peak ?? -1)")
      pair.script.content.withLock { $0 &+= 1 }
      chunk.update(size: size, workingPeak: peak, generate: Self.value(pair.script))
      model.invalidate(pair.model)
    default:
      note("update \(pair.model.name) to \(size), \(peak ?? -1)")
      pair.script.content.withLock { $0 &+= 1 }
      (pair.real as! BufferChunk).update(size: size, workingPeak: peak, generate: Self.fill(pair.script))
      model.invalidate(pair.model)
    }
  }

  /// A chunk that says that its size is negative, for once.
  private func absurd(_ pair: Pair) {
    guard let chunk = pair.real as? TrackedChunk, pair.model.product == nil else { return }
    let size = chunk.declaredSize
    chunk.declaredSize = -1
    pair.model.declared = -1
    touch(pair)
    chunk.declaredSize = size
    pair.model.declared = size
  }

  private func drop(_ pair: Pair) {
    guard depth == 0, model.canDrop(pair.model) else { return }
    note("drop \(pair.model.name)")
    // The thread of a prefetch that is done may hold it for a moment longer.
    guard eventually({ isKnownUniquelyReferenced(&pair.real) }) else { return fail("somebody keeps the chunk") }
    model.drop(pair.model)
    pairs.removeAll { $0 === pair }
    make()
  }

  private func finishLate() {
    guard !model.late.isEmpty else { return }
    let index = below(model.late.count)
    let name = model.late[index].name
    note("late bytes of \(name) are back")
    let first = model.late.firstIndex { $0.name == name }!
    model.finishLate(at: first)
    let part = lates.withLock { parts in parts.remove(at: parts.firstIndex { $0.name == name }!).part }
    part.finish()
  }

  private func changeLimits() {
    let bytes = below(5) == 0 ? 0 : below(80_000)
    let some: Int? = below(2) == 0 ? nil : bytes
    switch below(13) {
    case 0:
      note("budget \(bytes)")
      pool.budget = .bytes(bytes)
      model.setBudget(bytes)
    case 1..<3:
      let budget = 4_096 * Int.random(in: 5...20, using: &random)
      note("budget \(budget)")
      pool.budget = .bytes(budget)
      model.setBudget(budget)
    case 3:
      note("keep limit \(some ?? -1)")
      pool.keepLimit = some.map { .bytes($0) }
      model.setKeepLimit(some)
    case 4:
      let group = 1 + below(2)
      note("limit of group \(group): \(some ?? -1)")
      groups[group]!.limit = some.map { .bytes($0) }
      model.setLimit(some, of: group)
    case 5:
      let level = [0, 0, 1, 2][below(4)]
      note("pressure \(level)")
      pool.report(PressureLevel(rawValue: level)!)
      model.report(level)
    case 6:
      note("free all")
      pool.freeAll()
      model.freeAll()
      if pool.statistics.freePages != 0 { fail("free pages are resident after freeAll") }
    case 7:
      note("trim to \(bytes)")
      pool.trim(to: .bytes(bytes))
      model.trim(to: bytes)
    case 8..<10:
      let age = [0, 0, 1, 3, 50][below(5)]
      note("free what was unused for \(age) s")
      pool.free(unusedFor: .seconds(age))
      model.free(unusedFor: UInt64(age) * 1_000_000_000, count: events.current.count)
    default:
      clock.advance(by: .milliseconds(500 * (1 + below(5))))
      model.time = clock.now
    }
  }

  /// Lets go of everything, and looks whether everything was freed once.
  private func finish() {
    if mistake == nil, steps > 0 {
      while !tokens.isEmpty { unpin() }
      while !frames.isEmpty { endFrame() }
      while !model.late.isEmpty { finishLate() }
      for pair in pairs { pair.script.late.set(nil) }
      for pair in pairs { pair.model.late = nil }
      note("free all at the end")
      pool.freeAll()
      model.freeAll()
      check()
      if pool.used.bytes != 0 { fail("\(pool.used.bytes) bytes are left at the end") }
      if pool.statistics.generations != pool.statistics.frees { fail("generations and frees differ at the end") }
    }
    for token in tokens { token.letGo() }
    for frame in frames { frame.end() }
    lates.set([])
  }
}
