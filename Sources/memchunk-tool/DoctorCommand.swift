import MemoryLimits
import ToolSupport

/// `memchunk doctor`: says what this process may have, what it has, and which sources of pressure work here.
struct DoctorCommand: Command {
  static let name = "doctor"
  static let summary = "says what memory there is here, and how a program hears that it gets short"

  static let help = """
    Says what a process that is started like this one may have, what it has, and which
    sources of memory pressure work here; for those that do not, why.

    usage: memchunk doctor [--json]

      --json          writes it as JSON

    The limit that is reached first is marked: it is what ChunkPool(budget: .share(...))
    takes its share of. Sizes are in MB of 2^20 bytes, in JSON in bytes. No source that
    works is no failure: the exit code is 0.

    examples:
      memchunk doctor
      memchunk doctor --json
      systemd-run --user --scope -p MemoryMax=64M memchunk doctor

    """

  private let wantsJSON: Bool

  init(_ arguments: [[UInt8]]) throws(UsageError) {
    let arguments = try Arguments(arguments, flags: ["--json"])
    guard arguments.operands.isEmpty else { throw UsageError("doctor takes no operands") }
    wantsJSON = arguments.has("--json")
  }

  func run() throws {
    let limits = ProcessLimits.current(), memory = ProcessMemory.current()
    let sources = PressureMonitor.system.status
    try Memchunk.write(wantsJSON ? json(limits, memory, sources).text + "\n" : text(limits, memory, sources))
  }

  private func text(
    _ limits: ProcessLimits, _ memory: ProcessMemory, _ sources: [PressureMonitor.Status]
  ) -> String {
    let mark = limits.limits.isEmpty ? [] : ["*"] + Array(repeating: " ", count: limits.limits.count - 1)
    let limitLines = zip(mark, limits.limits).map { mark, limit in
      row("\(mark) \(label(limit.kind))", megabytes(limit.size.bytes), limit.place)
    }
    let numbers = [
      ("resident", memory.resident), ("anonymous", memory.anonymous), ("swapped out", memory.swap),
      ("lazily freed", memory.lazilyFreed),
    ]
    let memoryLines = numbers.map { name, bytes in row("  \(name)", bytes.map(megabytes) ?? "not known", "") }
    let groupLines = memory.groups.map { group in
      row(
        "  group", megabytes(group.usage),
        "\(group.directory)" + (group.anonymous.map { ", anonymous \(megabytes($0))" } ?? ""))
    }
    let sourceLines = sources.map { row("  \($0.name)", $0.isLive ? "live" : "absent", $0.detail) }
    let sections = [
      ("What this process may have; the least is marked", limitLines),
      ("What it has", memoryLines + groupLines),
      ("How it hears that memory gets short", sourceLines),
    ]
    return sections.map { title, lines in "\(title):\n" + lines.joined() }.joined(separator: "\n")
  }

  private func row(_ name: String, _ value: String, _ detail: String) -> String {
    func padded(_ text: String, _ width: Int) -> String {
      text + String(repeating: " ", count: max(0, width - text.count))
    }
    // No spaces at the end of a line.
    return detail.isEmpty
      ? "\(padded(name, 20)) \(value)\n" : "\(padded(name, 20)) \(padded(value, 14)) \(printable(detail))\n"
  }

  private func label(_ kind: MemoryLimit.Kind) -> String {
    switch kind {
    case .physical: "physical memory"
    case .groupMaximum: "group, maximum"
    case .groupHigh: "group, high"
    case .groupLimit: "group, limit"
    case .addressSpace: "address space"
    case .data: "data"
    case .app: "app"
    case .heapClass: "heap class"
    }
  }

  private func json(
    _ limits: ProcessLimits, _ memory: ProcessMemory, _ sources: [PressureMonitor.Status]
  ) -> JSON {
    func number(_ bytes: Int?) -> JSON { bytes.map { .integer($0) } ?? .null }
    return .object([
      ("limitBytes", .integer(limits.least.size.bytes)),
      (
        "limits",
        .array(
          limits.limits.map { limit in
            .object([
              ("kind", .string(limit.kind.rawValue)), ("bytes", .integer(limit.size.bytes)),
              ("place", .string(limit.place)),
            ])
          })
      ),
      ("residentBytes", number(memory.resident)),
      ("anonymousBytes", number(memory.anonymous)),
      ("swapBytes", number(memory.swap)),
      ("lazilyFreedBytes", number(memory.lazilyFreed)),
      (
        "groups",
        .array(
          memory.groups.map { group in
            .object([
              ("directory", .string(group.directory)), ("usageBytes", .integer(group.usage)),
              ("anonymousBytes", number(group.anonymous)),
            ])
          })
      ),
      (
        "sources",
        .array(
          sources.map { source in
            .object([
              ("name", .string(source.name)), ("live", .bool(source.isLive)), ("detail", .string(source.detail)),
            ])
          })
      ),
    ])
  }
}
