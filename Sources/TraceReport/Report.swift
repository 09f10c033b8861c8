package import ChunkTrace
package import ToolSupport

/// The report of a trace: one page that needs nothing else, and the same numbers as JSON.
package struct Report {
  /// Everything that the page shows.
  package let json: JSON

  /// - Parameters:
  ///   - name: what the trace is called in the title.
  package init(_ findings: Findings, name: String) {
    json = .object([
      ("trace", .string(name)), ("sentences", .array(findings.sentences.map { .string($0) })),
      ("advice", findings.json), ("dearest", .array(findings.dearest)),
      ("session", findings.session.map { $0.json(limits: .page) } ?? .null),
    ])
  }

  /// The page. Whatever labels contain, it is data there: `<` cannot end the element that it stands in, and the script makes
  /// text of it, never markup.
  package var html: String {
    ReportPage.text(data: json.text.reduce(into: "") { $0 += $1 == "<" ? "\\u003c" : String($1) })
  }

  /// Puts the page where it is wanted, whole or not at all.
  package func write(to path: String) throws(TraceError) { try replaceFile(path, with: Array(html.utf8)) }
}

extension Findings {
  /// What took longest to generate, all its generations together; of a trace without times, what a replay by least recently
  /// used would have generated. Fifty at most.
  var dearest: [JSON] {
    var rows: [(label: String, bytes: Int, generations: Int, cost: UInt64)]
    if let session {
      rows = session.chunks.enumerated().map { index, chunk in
        (chunk.label.isEmpty ? "chunk \(index + 1)" : chunk.label, chunk.size, chunk.generations, chunk.cost)
      }
    } else {
      let misses = trace.replay(.lru, budget: advice.budget).missesOfObjects
      rows = zip(trace.objects, misses).map { object, misses in
        (name(object), object.size, Int(misses), object.cost.timesOrMost(UInt64(misses)))
      }
    }
    rows.sort { $0.cost > $1.cost }
    return rows.prefix(50).filter { $0.generations > 0 }.map { row in
      .object([
        ("label", .string(row.label)), ("bytes", .integer(row.bytes)), ("generations", .integer(row.generations)),
        ("nanoseconds", .nanoseconds(row.cost)),
      ])
    }
  }
}
