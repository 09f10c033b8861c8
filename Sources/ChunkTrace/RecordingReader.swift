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

  private struct Chunk {
    var size = 0
    var cost: UInt64 = 0
    var generations: UInt64 = 0
    var label = ""
  }

  init(_ bytes: [UInt8], _ file: String) {
    self.bytes = bytes
    self.file = file
  }

  /// The requests read until now.
  var trace: Trace {
    var trace = Trace()
    for number in requests {
      let chunk = chunks[number]!
      trace.append(
        key: UInt64(number), size: chunk.size, cost: chunk.cost / max(1, chunk.generations), label: chunk.label)
    }
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
      requests.append(chunk)
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
      return try other(subject & 7, subject >> 3, at: start)
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
    case nil: throw damage("there is no event \(kind)", at: start)
    }
  }

  private mutating func passTime() throws(TraceError) { microseconds &+= try number() }

  private mutating func made(_ subject: UInt64, at start: Int, isPrefetch: Bool) throws(TraceError) -> RequestEvent {
    let number = try chunkNumber(subject, at: start)
    let (size, cost) = (try size(), try self.number())
    try passTime()
    var chunk = chunks[number] ?? Chunk()
    if chunk.generations == 0 { chunk.size = size }
    chunk.cost &+= cost
    chunk.generations += 1
    chunks[number] = chunk
    if !isPrefetch { requests.append(number) }
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
