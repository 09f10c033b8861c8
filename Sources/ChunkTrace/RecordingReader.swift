import MemChunks

/// Reads a recorded trace, event by event, and makes requests of it.
struct RecordingReader {
  private let bytes: [UInt8]
  private let file: String
  private var offset = 0
  private var version = 0
  /// When the last event that says so happened, since the recording began.
  private(set) var microseconds: UInt64 = 0
  /// Where the events of the present block end.
  private var blockEnd = 0
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

  init(_ bytes: [UInt8], _ file: String) {
    self.bytes = bytes
    self.file = file
  }

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

  mutating func readHeader() throws(TraceError) {
    offset = TraceFormat.magic.count + 1
    guard bytes.count >= offset else { throw damage("the first line of the file is cut off", at: bytes.count) }
    version = Int(bytes[offset - 1])
    guard version > 0 else { throw damage("no version is 0", at: offset - 1) }
    guard version <= TraceFormat.version else { throw .tooNew(file: file, version: version) }
    blockEnd = offset
  }

  /// The next event; nil behind the end mark.
  mutating func next() throws(TraceError) -> RequestEvent? {
    if offset == blockEnd {
      guard try beginBlock() else { return nil }
    }
    let start = offset
    let word = try number()
    let subject = word >> 3
    switch TraceFormat.Kind(rawValue: word & 7)! {
    case .hit:
      let chunk = try chunkNumber(subject, at: start)
      guard chunks[chunk] != nil else { throw damage("chunk \(chunk) is used before it is there", at: start) }
      request(chunk)
      return .hit(number: chunk)
    case .generated: return try made(subject, at: start, isPrefetch: false)
    case .prefetched: return try made(subject, at: start, isPrefetch: true)
    case .ready:
      let chunk = try chunkNumber(subject, at: start)
      let (size, cost) = (try size(), try number())
      chunks[chunk, default: Chunk()].size = size
      return .ready(number: chunk, size: size, nanoseconds: cost)
    case .freed:
      let reason = try number()
      guard reason < FreeReason.allCases.count else { throw damage("there is no reason \(reason)", at: start) }
      try passTime()
      return .freed(number: try chunkNumber(subject, at: start), reason: FreeReason.allCases[Int(reason)])
    case .named:
      let chunk = try chunkNumber(subject, at: start)
      let (label, group) = (try text(), try text())
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
      let chunk = try chunkNumber(subject, at: start)
      try passTime()
      return kind == TraceFormat.Other.pinned.rawValue ? .pinned(number: chunk) : .unpinned(number: chunk)
    case .keepLimit:
      let level = try number()
      guard level <= 2 else { throw damage("there is no level of pressure \(level)", at: start) }
      try passTime()
      return .keepLimit(Int(subject), PressureLevel(rawValue: Int(level))!)
    case .time:
      microseconds &+= subject
      return .time
    case .inside:
      inside = subject == 0 ? 0 : try chunkNumber(subject, at: start)
      return .inside(number: inside)
    case .failed:
      let chunk = try chunkNumber(subject, at: start)
      try passTime()
      // They were made all the same.
      requests += asked.removeValue(forKey: chunk) ?? []
      return .failed(number: chunk)
    case .peak:
      let (chunk, bytes) = (try chunkNumber(subject, at: start), try size())
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
    case nil: throw damage("there is no event \(kind)", at: start)
    }
  }

  private mutating func endPlan(count: UInt64, at start: Int) throws(TraceError) {
    guard planDepth > 0 else { throw damage("a plan ends that has not begun", at: start) }
    guard count <= UInt64(blockEnd - offset) else { throw damage("plans do not end", at: start) }
    var plans: [BudgetPlan] = []
    for _ in 0..<count {
      plans.append(
        BudgetPlan(
          budget: try size(), generations: try size(), generatedBytes: try size(), nanoseconds: try number()))
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

  private mutating func passTime() throws(TraceError) { microseconds &+= try number() }

  private mutating func made(_ subject: UInt64, at start: Int, isPrefetch: Bool) throws(TraceError) -> RequestEvent {
    let number = try chunkNumber(subject, at: start)
    let (size, cost) = (try size(), try self.number())
    try passTime()
    var chunk = chunks[number] ?? Chunk()
    if chunk.generations == 0 { chunk.size = size }
    chunk.needs = asked.removeValue(forKey: number) ?? []
    chunk.cost &+= cost
    chunk.generations += 1
    chunks[number] = chunk
    if !isPrefetch { request(number) }
    return .generated(number: number, size: size, nanoseconds: cost, isPrefetch: isPrefetch)
  }

  /// False for the end mark.
  private mutating func beginBlock() throws(TraceError) -> Bool {
    guard bytes.count - offset >= 8 else {
      throw damage("it ends without its end mark: whoever wrote it did not close it", at: offset)
    }
    let length = Int(word(at: offset))
    let start = offset
    guard length <= TraceFormat.largestBlock else { throw damage("a block of \(length) bytes cannot be", at: start) }
    guard bytes.count - offset - 8 >= length else { throw damage("the last block is cut off", at: start) }
    let payload = bytes[(offset + 8)..<(offset + 8 + length)]
    guard TraceFormat.crc(payload) == word(at: offset + 4) else {
      throw damage("the checksum of a block is wrong", at: start)
    }
    offset += 8
    blockEnd = offset + length
    guard length == 0 else { return true }
    guard offset == bytes.count else { throw damage("something stands behind the end mark", at: offset) }
    return false
  }

  private func word(at offset: Int) -> UInt32 {
    (0..<4).reduce(0) { $0 | UInt32(bytes[offset + $1]) << UInt32(8 * $1) }
  }

  private mutating func number() throws(TraceError) -> UInt64 {
    let start = offset
    var (number, shift) = (UInt64(0), UInt64(0))
    while offset < blockEnd, shift < 64 {
      let byte = bytes[offset]
      offset += 1
      number |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return number }
      shift += 7
    }
    throw damage("a number does not end", at: start)
  }

  private func chunkNumber(_ subject: UInt64, at start: Int) throws(TraceError) -> UInt32 {
    guard subject > 0, subject <= UInt32.max else { throw damage("no chunk has the number \(subject)", at: start) }
    return UInt32(subject)
  }

  private mutating func size() throws(TraceError) -> Int {
    let start = offset
    let size = try number()
    guard size <= 1 << 50 else { throw damage("a size of \(size) bytes cannot be", at: start) }
    return Int(size)
  }

  private mutating func text() throws(TraceError) -> String {
    let start = offset
    let length = try number()
    guard length <= UInt64(blockEnd - offset) else { throw damage("a text does not end", at: start) }
    defer { offset += Int(length) }
    return String(decoding: bytes[offset..<(offset + Int(length))], as: UTF8.self)
  }

  private func damage(_ reason: String, at offset: Int) -> TraceError {
    .damaged(file: file, offset: offset, reason: reason)
  }
}
