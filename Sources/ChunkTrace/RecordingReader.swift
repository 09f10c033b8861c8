import MemChunks

/// Reads a recorded trace, event by event, and makes requests of it.
struct RecordingReader {
  private var blocks: TraceBlocks
  private var version = 0
  /// When the last event that says so happened, since the recording began.
  private(set) var microseconds: UInt64 = 0
  private var requests: [UInt32] = []
  private var chunks: [UInt32: Chunk] = [:]
  /// How many plans have begun and not ended.
  private var planDepth = 0
  /// The first of the requests that follow them.
  private var firstPlanned = 0
  private var mustKeepPlanned = false
  private var plannedWork: [PlannedWork] = []
  /// Inside whose generation requests are being made; 0 for none.
  private var inside: UInt32 = 0
  /// What generations that have not ended asked for.
  private var asked: [UInt32: [UInt32]] = [:]

  private struct Chunk {
    var size = 0
    var cost: UInt64 = 0
    var generations: UInt64 = 0
    var label = ""
    var peak = 0
    /// What its last generation asked for: what it is made from may change, and then this is how it is made now.
    var needs: [UInt32] = []

    var meanCost: UInt64 { cost / max(1, generations) }
  }

  init(_ bytes: [UInt8], _ file: String) { blocks = TraceBlocks(bytes, file) }

  /// The requests read until now, and what their objects need. What a generation that has not ended asked for is left out;
  /// what a plan did that has not ended is not.
  var trace: Trace {
    var trace = Trace()
    for number in requests {
      let chunk = chunks[number]!
      trace.append(key: UInt64(number), size: chunk.size, cost: chunk.meanCost, label: chunk.label)
    }
    // Grows by what is only asked for by generations.
    var index = 0
    while index < trace.objects.count {
      let chunk = chunks[UInt32(trace.objects[index].key)]!
      let needs = chunk.needs.map { number in
        let need = chunks[number]!
        return trace.add(key: UInt64(number), size: need.size, cost: need.meanCost, label: need.label)
      }
      trace.setNeeds(needs, workingPeak: chunk.peak, of: Int32(index))
      index += 1
    }
    trace.plannedWork = plannedWork
    return trace
  }

  mutating func readHeader() throws(TraceError) { version = try blocks.readHeader() }

  /// The next event; nil behind the end mark.
  mutating func next() throws(TraceError) -> RequestEvent? {
    guard try blocks.beginEvent() else { return nil }
    let start = blocks.offset
    let word = try blocks.number()
    let subject = word >> 3
    switch TraceFormat.Kind(rawValue: word & 7)! {
    case .hit:
      let chunk = try blocks.chunkNumber(subject, at: start)
      guard chunks[chunk] != nil else { throw blocks.damage("chunk \(chunk) is used before it is there", at: start) }
      request(chunk)
      return .hit(number: chunk)
    case .generated: return try made(subject, at: start, isPrefetch: false)
    case .prefetched: return try made(subject, at: start, isPrefetch: true)
    case .ready:
      let chunk = try blocks.chunkNumber(subject, at: start)
      let (size, cost) = (try blocks.size(), try blocks.cost())
      chunks[chunk, default: Chunk()].size = size
      return .ready(number: chunk, size: size, nanoseconds: cost)
    case .freed:
      let reason = try blocks.number()
      guard reason < FreeReason.allCases.count else { throw blocks.damage("there is no reason \(reason)", at: start) }
      try passTime()
      return .freed(number: try blocks.chunkNumber(subject, at: start), reason: FreeReason.allCases[Int(reason)])
    case .named:
      let chunk = try blocks.chunkNumber(subject, at: start)
      let (label, group) = (try blocks.text(), try blocks.text())
      chunks[chunk, default: Chunk()].label = label
      return .named(number: chunk, label: label, group: group)
    case .other:
      if version == 1 { return .dropped(hits: Int(subject)) }
      let bitCount = version < 4 ? 3 : TraceFormat.Other.bitCount
      return try other(subject & (1 << bitCount - 1), subject >> bitCount, at: start)
    case .budget:
      try passTime()
      return .budget(Int(subject))
    }
  }

  private mutating func other(_ kind: UInt64, _ subject: UInt64, at start: Int) throws(TraceError) -> RequestEvent {
    switch TraceFormat.Other(rawValue: kind) {
    case .dropped: return .dropped(hits: Int(subject))
    case .pinned, .unpinned:
      let chunk = try blocks.chunkNumber(subject, at: start)
      try passTime()
      return kind == TraceFormat.Other.pinned.rawValue ? .pinned(number: chunk) : .unpinned(number: chunk)
    case .keepLimit:
      let level = try blocks.number()
      guard level <= 2 else { throw blocks.damage("there is no level of pressure \(level)", at: start) }
      try passTime()
      return .keepLimit(Int(subject), PressureLevel(rawValue: Int(level))!)
    case .time:
      try passTime(of: subject, at: start)
      return .time
    case .inside:
      inside = subject == 0 ? 0 : try blocks.chunkNumber(subject, at: start)
      return .inside(number: inside)
    case .failed:
      let chunk = try blocks.chunkNumber(subject, at: start)
      try passTime()
      // They were made all the same.
      requests += asked.removeValue(forKey: chunk) ?? []
      return .failed(number: chunk)
    case .peak:
      let (chunk, bytes) = (try blocks.chunkNumber(subject, at: start), try blocks.size())
      if chunks[chunk, default: Chunk()].peak == 0 { chunks[chunk, default: Chunk()].peak = bytes }
      return .peak(number: chunk, bytes: bytes)
    case .planned:
      try passTime()
      if planDepth == 0 { (firstPlanned, mustKeepPlanned) = (requests.count, false) }
      planDepth += 1
      return .time
    case .plans:
      try endPlan(count: subject, at: start)
      return .time
    case nil: throw blocks.damage("there is no event \(kind)", at: start)
    }
  }

  private mutating func endPlan(count: UInt64, at start: Int) throws(TraceError) {
    guard planDepth > 0 else { throw blocks.damage("a plan ends that has not begun", at: start) }
    guard count <= UInt64(blocks.bytesLeft) else { throw blocks.damage("plans do not end", at: start) }
    var plans: [BudgetPlan] = []
    for _ in 0..<count {
      plans.append(
        BudgetPlan(
          budget: try blocks.size(), generations: try blocks.size(), generatedBytes: try blocks.size(),
          nanoseconds: try blocks.cost()))
    }
    try passTime()
    // What was asked for without a plan was asked for like anything else.
    if plans.isEmpty { mustKeepPlanned = true } else { plannedWork.append(PlannedWork(plans)) }
    planDepth -= 1
    if planDepth == 0, !mustKeepPlanned { requests.removeSubrange(firstPlanned...) }
  }

  private mutating func request(_ chunk: UInt32) {
    if inside == 0 { requests.append(chunk) } else { asked[inside, default: []].append(chunk) }
  }

  private mutating func passTime() throws(TraceError) {
    let start = blocks.offset
    try passTime(of: blocks.number(), at: start)
  }

  private mutating func passTime(of passed: UInt64, at start: Int) throws(TraceError) {
    let now = microseconds.addingOrMost(passed)
    guard now < 1 << 60 else { throw blocks.damage("\(passed) microseconds cannot have passed", at: start) }
    microseconds = now
  }

  private mutating func made(_ subject: UInt64, at start: Int, isPrefetch: Bool) throws(TraceError) -> RequestEvent {
    let number = try blocks.chunkNumber(subject, at: start)
    let (size, cost) = (try blocks.size(), try blocks.cost())
    try passTime()
    var chunk = chunks[number] ?? Chunk()
    if chunk.generations == 0 { chunk.size = size }
    chunk.needs = asked.removeValue(forKey: number) ?? []
    chunk.cost = chunk.cost.addingOrMost(cost)
    chunk.generations += 1
    chunks[number] = chunk
    if !isPrefetch { request(number) }
    return .generated(number: number, size: size, nanoseconds: cost, isPrefetch: isPrefetch)
  }
}
