import MemChunks
import TestSupport

// Uses: wishes, tokens, scopes, frames, prefetches.
extension ModelRun {
  /// How a wish is made: a deadline of nothing where it could else wait for ever.
  private var limit: Duration? {
    let mayWait = depth == 0 && (!model.late.isEmpty || pairs.contains { $0.model.late != nil })
    return mayWait || below(4) == 0 ? .zero : nil
  }

  func touch(_ pair: Pair) {
    note("touch \(pair.model.name)")
    let limit = limit
    let real = answer(limit) { try pair.real.ensureReady(waitingUpTo: limit) }
    compare(real, model.want([pair.model], .touch), limit, [pair])
  }

  func pin(_ chosen: [Pair], several: Bool) {
    note("pin \(chosen.map(\.model.name)) \(several)")
    let limit = limit
    var letGo: (() -> Void)?
    let real = answer(limit) {
      if several {
        let box = Box(try pool.pin(chosen.map(\.real), waitingUpTo: limit))
        letGo = { box.drop() }
      } else {
        let box = HeldPinBox(try HeldPin(chosen[0].real, waitingUpTo: limit))
        letGo = { box.pin = nil }
      }
    }
    let expected = model.want(chosen.map(\.model), .hold, several: several)
    compare(real, expected, limit, chosen)
    if expected == .ready, let letGo {
      tokens.append(Token(chosen.map { ($0.model, $0.model.product!) }, letGo))
    }
  }

  func unpin() {
    guard !tokens.isEmpty else { return }
    let token = tokens.remove(at: below(tokens.count))
    note("unpin \(token.held.map(\.0.name))")
    token.letGo()
    for (chunk, product) in token.held { model.endUse(of: chunk, product) }
  }

  /// Uses chunks in a scope and does other things inside.
  func scope(_ chosen: [Pair], several: Bool) {
    note("scope \(chosen.map(\.model.name)) \(several)")
    let limit = limit
    var expected: Model.Answer?
    var held: [(Model.Chunk, Model.Product)] = []
    let body = { [self] in
      expected = model.want(chosen.map(\.model), .hold, several: several)
      guard expected == .ready else { return }
      held = chosen.map { ($0.model, $0.model.product!) }
      depth += 1
      check()
      for pair in chosen where pair.model.product != nil && !isWhole(pair) { fail("\(pair.model.name) is not whole") }
      // Looking at the contents was a use too.
      for pair in chosen where !(pair.real is TrackedChunk) { _ = model.want([pair.model], .touch) }
      for _ in 0..<below(5) { step() }
      note("end of scope \(chosen.map(\.model.name))")
      depth -= 1
    }
    let real = answer(limit) {
      if several {
        try pool.withReady(chosen.map(\.real), waitingUpTo: limit, body)
      } else {
        try chosen[0].real.withReady(waitingUpTo: limit, body)
      }
    }
    if expected == nil { expected = model.want(chosen.map(\.model), .hold, several: several) }
    compare(real, expected!, limit, chosen)
    for (chunk, product) in held { model.endUse(of: chunk, product) }
  }

  func frame() {
    note("frame")
    frameCount += 1
    let id = frameCount
    pool.frame {
      model.beginFrame(id)
      depth += 1
      for _ in 0..<below(8) { step() }
      note("end of frame")
      depth -= 1
    }
    model.endFrame(id)
  }

  func beginFrame() {
    note("begin frame")
    frameCount += 1
    let box = FrameBox(pool.beginFrame())
    frames.append((frameCount, { box.frame = nil }))
    model.beginFrame(frameCount)
  }

  func endFrame() {
    guard !frames.isEmpty else { return }
    note("end frame")
    let frame = frames.remove(at: below(frames.count))
    frame.end()
    model.endFrame(frame.id)
  }

  func prefetch(_ chosen: [Pair]) {
    note("prefetch \(chosen.map(\.model.name))")
    let real = pool.prefetch(chosen.map(\.real)).wait().map(\.label)
    let expected = model.prefetch(chosen.map(\.model)).map(\.name)
    if real != expected { fail("prefetched \(real), not \(expected)") }
  }

  /// The pool's answer in the model's words, with the reason of a refusal.
  private func answer(_ limit: Duration?, _ body: () throws -> Void) -> (Model.Answer, ChunkError.NoRoom.Reason?) {
    do {
      try body()
      return (.ready, nil)
    } catch let error as ChunkError {
      switch error {
      case .tooLarge(_, let needed, let limit, let group):
        return (.tooLarge(needed: needed, limit: limit, group: group), nil)
      case .noRoom(let numbers):
        let answer = Model.Answer.noRoom(
          needed: numbers.needed, free: numbers.free, pinned: numbers.pinned, framed: numbers.framed,
          freeing: numbers.freeing)
        return (answer, numbers.reason)
      case .generationFailed: return (.failed, nil)
      case .invalidSize: return (.invalidSize, nil)
      default: preconditionFailure("\(error)")
      }
    } catch { preconditionFailure("\(error)") }
  }

  private func compare(
    _ real: (answer: Model.Answer, reason: ChunkError.NoRoom.Reason?), _ expected: Model.Answer, _ limit: Duration?,
    _ chosen: [Pair]
  ) {
    switch (real.answer, expected) {
    case (.noRoom(let needed, _, _, _, _), .noRoomAfter(let expected)):
      if needed != expected { fail("needed \(needed), not \(expected)") }
    case (.noRoom, .noRoom):
      if real.answer != expected { fail("\(real.answer), not \(expected)") }
      let reason: ChunkError.NoRoom.Reason =
        if limit != nil {
          .deadline
        } else if chosen.contains(where: { $0.model.product == nil && $0.model.retired.count == $0.model.lanes }) {
          .oldProductInUse
        } else if depth > 0 {
          .holdsOthers
        } else {
          model.ready > 0 || !model.frames.isEmpty ? .heldByTokens : .nothingToFree
        }
      if real.reason != reason { fail("refused because \(real.reason!), not because \(reason)") }
    default: if real.answer != expected { fail("\(real.answer), not \(expected)") }
    }
  }
}

/// Tokens that cannot be copied, as objects.
private final class HeldPinBox {
  var pin: HeldPin?
  init(_ pin: HeldPin) { self.pin = pin }
}

private final class Box {
  private var pins: PinSet?
  init(_ pins: consuming PinSet) { self.pins = consume pins }
  func drop() { pins = nil }
}

private final class FrameBox {
  var frame: Frame?
  init(_ frame: consuming Frame) { self.frame = consume frame }
}
