package import ChunkTrace
package import ToolSupport

/// What is found in a trace: the advice, and what happened while it was recorded.
package struct Findings {
  /// The advice.
  package let advice: Advice
  /// Nil for formats that know no times.
  package let session: Session?
  let trace: Trace
  let pinnedLong: [(chunk: Session.Chunk, microseconds: UInt64)]

  /// Replays a trace at a budget, today's, and many others.
  package init(_ file: TraceFile, _ session: Session?, budget: Int) {
    trace = file.trace
    advice = Advice(file.trace, budget: budget)
    self.session = session
    pinnedLong = session?.pinnedLong ?? []
  }
}

extension Findings {
  /// The advice in plain sentences, a line each.
  package var sentences: [String] {
    let lru = advice.policies.first { $0.policy == .lru }!.result
    // Of what a pool can be set to.
    let best = advice.policies.first { [.lru, .costAware, .adaptive].contains($0.policy) }!
    var lines = advice.plannedWork.map(sentence(about:))
    if advice.requests > 0 || lines.isEmpty {
      lines.insert(
        "\(advice.requests) requests for \(advice.objects) objects of \(megabytes(advice.footprint)) together.", at: 0)
    }
    lines += [
      "With today's \(megabytes(advice.budget)) and lru, \(lru.misses) generations take \(milliseconds(lru.missedCost)); "
        + "generating everything once takes \(milliseconds(advice.firstCost)).",
      "One megabyte more would save \(milliseconds(advice.savedByNextMegabyte)).",
    ]
    if let knee = advice.knee {
      lines.append(
        "The curve bends at \(megabytes(knee.budget)), where generating takes \(milliseconds(knee.missedCost)): "
          + "less budget costs much more, more saves little.")
    }
    lines.append(
      "The best policy today is \(best.policy.rawValue), with \(percent(best.result.missedCost, of: lru.missedCost)) of the "
        + "time of lru; no policy can be below \(percent(advice.leastCost, of: lru.missedCost)).")
    if let thrash = advice.thrash {
      lines.append(
        "It thrashes: \(thrash.again) of \(thrash.generations) generations make again what had been freed. "
          + "A budget of \(megabytesAtLeast(thrash.budgetThatStopsIt)) would stop that.")
      for (object, generations) in thrash.dearest {
        lines.append(
          "  \(name(object)), \(megabytes(object.size)): generated \(generations) times, \(milliseconds(object.cost)) each"
        )
      }
    }
    if advice.usedOnce.objects > 0 {
      lines.append("\(advice.usedOnce.objects) objects of \(megabytes(advice.usedOnce.bytes)) are never used again.")
    }
    for (chunk, microseconds) in pinnedLong.prefix(5) {
      lines.append(
        "\(name(chunk)), \(megabytes(chunk.size)), is pinned too long: tokens held it for "
          + "\(percent(microseconds, of: session?.duration ?? 0)) of the time, in which \(chunk.freesWhilePinned) "
          + "products of others were freed for room.")
    }
    return lines
  }

  private func sentence(about work: PlannedWork) -> String {
    let (today, best) = (work.plan(for: advice.budget), work.thriftiest)
    func numbers(_ plan: BudgetPlan) -> String {
      "\(plan.generations) generations of \(megabytes(plan.generatedBytes))"
    }
    var sentence =
      "It plans by its budget, which must be \(megabytesAtLeast(work.leastBudget)) or more: today \(numbers(today))"
    if best.generations < today.generations {
      sentence += "; from \(megabytesAtLeast(best.budget)) on, \(numbers(best))"
    }
    return sentence + "."
  }

  private func name(_ chunk: Session.Chunk) -> String { chunk.label.isEmpty ? "a chunk" : printable(chunk.label) }

  func name(_ object: Trace.Object) -> String {
    object.label.isEmpty ? "object \(object.key)" : printable(object.label)
  }

  /// The advice in numbers.
  package var json: JSON {
    .object([
      ("budgetBytes", .integer(advice.budget)), ("requests", .integer(advice.requests)),
      ("objects", .integer(advice.objects)), ("footprintBytes", .integer(advice.footprint)),
      ("plannedGenerations", .integer(advice.plannedWork.reduce(0) { $0 + $1.plan(for: advice.budget).generations })),
      ("plannedWork", .array(advice.plannedWork.map { .array($0.plans.map { JSON.plan($0) }) })),
      ("firstNanoseconds", .nanoseconds(advice.firstCost)), ("boundNanoseconds", .nanoseconds(advice.leastCost)),
      ("savedByNextMegabyteNanoseconds", .integer(Int(advice.savedByNextMegabyte))),
      ("knee", advice.knee.map { JSON.point($0) } ?? .null),
      ("policies", .array(advice.policies.map { JSON.result(of: $0.policy, $0.result) })),
      ("thrash", advice.thrash.map(json(of:)) ?? .null),
      ("usedOnceObjects", .integer(advice.usedOnce.objects)), ("usedOnceBytes", .integer(advice.usedOnce.bytes)),
      ("pinnedLong", .array(pinnedLong.map { Self.json(of: $0.chunk, pinnedFor: $0.microseconds) })),
      ("curve", .array(advice.curve.points.map { JSON.point($0) })),
    ])
  }

  private func json(of thrash: Advice.Thrash) -> JSON {
    .object([
      ("generations", .integer(thrash.generations)), ("again", .integer(thrash.again)),
      ("budgetThatStopsItBytes", .integer(thrash.budgetThatStopsIt)),
      (
        "dearest",
        .array(
          thrash.dearest.map { object, generations in
            .object([
              ("label", .string(name(object))), ("bytes", .integer(object.size)),
              ("generations", .integer(generations)), ("nanoseconds", .nanoseconds(object.cost)),
            ])
          })
      ),
    ])
  }

  private static func json(of chunk: Session.Chunk, pinnedFor microseconds: UInt64) -> JSON {
    .object([
      ("label", .string(chunk.label)), ("bytes", .integer(chunk.size)),
      ("microseconds", .integer(Int(microseconds))), ("freesMeanwhile", .integer(chunk.freesWhilePinned)),
    ])
  }
}
