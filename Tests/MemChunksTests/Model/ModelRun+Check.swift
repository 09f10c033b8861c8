import MemChunks
import TestSupport

// Comparing the pool with the model.
extension ModelRun {
  func note(_ operation: String) {
    history.append(String(repeating: "  ", count: depth) + operation)
    if history.count > 400 { history.removeFirst(200) }
  }

  func fail(_ what: String) {
    guard mistake == nil else { return }
    mistake = "step \(steps): \(what)\n" + history.suffix(60).joined(separator: "\n") + "\n\(model)\n\(pool)"
  }

  func check() {
    guard mistake == nil else { return }
    pool._checkInvariants()
    checkVictims()
    checkTotals()
    checkChunks()
  }

  /// Victims in order. Those that make room and those above a limit are chosen together and freed separately, so
  /// each reason has an order of its own; chunks of no bytes, and what goes because a use or a frame ended, have none.
  private func checkVictims() {
    let real = events.withLock { events in
      defer { events = [] }
      return events
    }
    defer {
      model.freed = []
      model.departed = []
    }
    func isInOrder(_ freed: Model.Freed, _ reason: String) -> Bool {
      freed.reason == reason && freed.size > 0 && !model.departed.contains(freed.name)
    }
    for reason in ["room", "limit", "trimmed", "unused", "all"] {
      let left = real.filter { isInOrder($0, reason) }
      let right = model.freed.filter { isInOrder($0, reason) }
      if left != right { return fail("freed for \(reason): \(left.map(\.name)), not \(right.map(\.name))") }
    }
    func rest(_ freed: [Model.Freed]) -> [String] { freed.map { "\($0.name) \($0.size) \($0.reason)" }.sorted() }
    if rest(real) != rest(model.freed) { fail("freed: \(rest(real)), not \(rest(model.freed))") }
  }

  private func checkTotals() {
    let real = pool.statistics
    func equal(_ left: Int, _ right: Int, _ name: String) {
      if left != right { fail("\(name) is \(left), not \(right)") }
    }
    equal(real.budget, model.budget, "budget")
    equal(real.keepLimit, model.keepLimit, "keep limit")
    equal(real.ready, model.ready, "ready")
    equal(real.reserved, 0, "reserved")
    equal(real.freeing, model.freeing, "freeing")
    equal(real.pinned, model.pinned, "pinned")
    equal(real.overdraft, max(0, -model.room), "overdraft")
    equal(real.used, real.ready + real.freeing + real.freePages, "used")
    equal(real.chunks, model.products.count, "chunks")
    equal(real.generations, model.generations, "generations")
    equal(real.frees, model.frees, "frees")
    equal(real.failures, model.failures, "failures")
    equal(real.refusals, model.refusals, "refusals")
    equal(real.hits, model.hits, "hits")
    equal(real.misses, model.misses, "misses")
    equal(real.bytesGenerated, model.bytesGenerated, "bytes generated")
    if real.used > real.budget + real.overdraft { fail("\(real.used) bytes are counted in \(real.budget)") }
    if real.overdraft > 0, real.freePages > 0 { fail("free pages stay resident above the budget") }
    if real.peak < real.used { fail("the peak is below what is counted") }
    for (index, group) in groups.enumerated() {
      guard let group else { continue }
      equal(group.totals.ready, model.ready(in: index), "ready in group \(index)")
      equal(group.totals.sum, model.counted(in: index), "counted in group \(index)")
    }
  }

  private func checkChunks() {
    for pair in pairs where pair.real.isReady != (pair.model.product != nil) {
      fail("\(pair.model.name) is \(pair.real.isReady ? "ready" : "empty"), not so in the model")
    }
    let rows = pool.snapshot()
    let line = model.line(usedUntil: model.protectedSince).map(\.name)
    let ready = rows.filter { $0.state == .ready }.map(\.label)
    if ready != line { fail("the line is \(ready), not \(line)") }
    let retired = rows.filter { $0.state == .retired }.map(\.label).sorted()
    let expected = model.chunks.flatMap { chunk in chunk.retired.map { _ in chunk.name } }.sorted()
    if retired != expected { fail("retired are \(retired), not \(expected)") }
  }
}

extension PoolModel: CustomStringConvertible {
  /// What a failure shows: the limits, then the chunks as they were used.
  var description: String {
    var text = "budget \(budget), keep limit \(keepLimit), ready \(ready), late \(freeing), limits \(groupLimits)"
    text += ", protected since \(protectedSince)\n"
    for chunk in chunks.sorted(by: { $0.stamp < $1.stamp }) where chunk.product != nil || !chunk.retired.isEmpty {
      text += "\(chunk.name) in \(chunk.group), used at \(chunk.stamp):"
      if let product = chunk.product {
        text += " \(product.size) bytes, \(product.users) users\(product.departure.map { ", departs (\($0))" } ?? "")"
      }
      for product in chunk.retired { text += " retired \(product.size) bytes, \(product.users) users" }
      text += "\n"
    }
    return text
  }
}
