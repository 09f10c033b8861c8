import ChunkTrace
import MemChunks
import ToolSupport

/// How much of a session a page holds; what is left out is counted in it.
struct PageLimits {
  var steps: Int
  var lanes: Int
  var spansOfLane: Int
  var events: Int

  static let page = PageLimits(steps: 4_000, lanes: 200, spansOfLane: 1_000, events: 5_000)
}

extension Session {
  func json(limits: PageLimits) -> JSON {
    let lanes = chunks.indices.sorted { (chunks[$0].cost, $1) > (chunks[$1].cost, $0) }.prefix(limits.lanes)
    let steps = steps(atMost: limits.steps)
    let generating = chunks.reduce(UInt64(0)) { $0.addingOrMost($1.cost) }
    return .object([
      ("microseconds", .integer(Int(duration))), ("groups", .array(groups.map { .string($0) })),
      ("peakBytes", .integer(memory.map(\.total).max() ?? 0)),
      ("generations", .integer(chunks.reduce(0) { $0 + $1.generations })),
      ("generatedNanoseconds", .nanoseconds(generating)),
      ("memory", .array(steps.map { step in .array([.integer(Int(step.time))] + step.bytes.map { .integer($0) }) })),
      ("budgets", .array(budgets.map { .array([.integer(Int($0.time)), .integer($0.bytes)]) })),
      (
        "keepLimits",
        .array(
          keepLimits.map {
            .array([.integer(Int($0.time)), .integer($0.bytes), .integer($0.pressure.rawValue)])
          })
      ),
      ("lanes", .array(lanes.map { lane(chunks[$0], number: $0 + 1, limits.spansOfLane) })),
      ("lanesLeftOut", .integer(chunks.count - lanes.count)),
      ("events", .array(events.suffix(limits.events).map(json(of:)))),
      ("eventsLeftOut", .integer(max(0, events.count - limits.events))),
    ])
  }

  private func lane(_ chunk: Chunk, number: Int, _ most: Int) -> JSON {
    func spans(_ spans: [Span]) -> JSON {
      .array(spans.prefix(most).map { .array([.integer(Int($0.start)), .integer(Int($0.end))]) })
    }
    let leftOut = [chunk.ready, chunk.generating, chunk.pinned].reduce(0) { $0 + max(0, $1.count - most) }
    return .object([
      ("label", .string(name(of: chunk, number))), ("group", .string(groups[chunk.group])),
      ("bytes", .integer(chunk.size)), ("uses", .integer(chunk.uses)), ("generations", .integer(chunk.generations)),
      ("nanoseconds", .nanoseconds(chunk.cost)), ("ready", spans(chunk.ready)),
      ("generating", spans(chunk.generating)), ("pinned", spans(chunk.pinned)), ("spansLeftOut", .integer(leftOut)),
    ])
  }

  private func name(of chunk: Chunk, _ number: Int) -> String { chunk.label.isEmpty ? "chunk \(number)" : chunk.label }

  private func json(of event: Event) -> JSON {
    let what =
      switch event.kind {
      case .generated: "generated"
      case .prefetched: "prefetched"
      case .freed(let reason): "freed: \(reason.rawValue)"
      case .budget: "budget"
      case .keepLimit(let level): "keep limit, pressure \(level)"
      }
    return .array([
      .integer(Int(event.time)), .string(what), .string(event.chunk.map { name(of: chunks[$0], $0 + 1) } ?? ""),
      .integer(event.bytes), .nanoseconds(event.cost),
    ])
  }

  /// The steps of memory, of each stretch of time the highest: peaks are what limits are about.
  private func steps(atMost most: Int) -> [Memory] {
    guard memory.count > most else { return memory }
    let size = (memory.count + most - 1) / most
    return stride(from: 0, to: memory.count, by: size).map { start in
      memory[start..<min(start + size, memory.count)].max { $0.total < $1.total }!
    }
  }
}
