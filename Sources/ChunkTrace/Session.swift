package import MemChunks

/// What happened in a pool while it was recorded, as intervals and steps of time: what a report draws.
///
/// Times are in microseconds since the recording began. Hits and tokens have the time of the pool's next slow step.
package struct Session: Sendable {
  /// From when until when something lasted.
  package struct Span: Sendable, Equatable {
    package var start: UInt64
    package var end: UInt64
  }

  /// What is known of one chunk.
  package struct Chunk: Sendable {
    package var label = ""
    /// The index in `groups`.
    package var group = 0
    /// Bytes of the last product.
    package var size = 0
    package var uses = 0
    package var generations = 0
    /// What its generations took all in all, in nanoseconds.
    package var cost: UInt64 = 0
    package var ready: [Span] = []
    package var generating: [Span] = []
    package var pinned: [Span] = []
    /// Chunks that were freed for room while a token held this one.
    package var freesWhilePinned = 0
    fileprivate var products: [(size: Int, since: UInt64)] = []
    fileprivate var tokens = 0
    fileprivate var pinnedSince: UInt64 = 0
  }

  /// The bytes that are ready from a time on, for each group.
  package struct Memory: Sendable {
    package var time: UInt64
    package var bytes: [Int]
    package var total: Int { bytes.reduce(0) { $0.addingOrMost($1) } }
  }

  /// A limit from a time on.
  package struct Limit: Sendable {
    package var time: UInt64
    package var bytes: Int
    /// Of keep limits.
    package var pressure = PressureLevel.normal
  }

  /// One event that is neither a hit nor a token's.
  package struct Event: Sendable {
    package enum Kind: Sendable, Equatable {
      case generated, prefetched, freed(FreeReason), budget, keepLimit(PressureLevel)
    }
    package var time: UInt64
    package var kind: Kind
    /// The index in `chunks`.
    package var chunk: Int?
    package var bytes: Int
    /// What a generation took, in nanoseconds.
    package var cost: UInt64 = 0
  }

  /// How long it was recorded.
  package private(set) var duration: UInt64 = 0
  /// The labels of groups; the pool's own is the one without.
  package private(set) var groups: [String] = [""]
  package private(set) var chunks: [Chunk] = []
  package private(set) var memory: [Memory] = [Memory(time: 0, bytes: [0])]
  package private(set) var budgets: [Limit] = []
  package private(set) var keepLimits: [Limit] = []
  package private(set) var events: [Event] = []
  private var indices: [UInt32: Int] = [:]
  private var pinnedNow: Set<Int> = []

  /// Reads a recording; nil for other formats, which know no times. What is damaged is used as far as it is whole: `TraceFile`
  /// says whether that was asked for.
  package init?(_ path: String) throws(TraceError) { try self.init(bytes: readBytes(path), file: path) }

  /// The same from bytes in memory; `file` is what to call them in errors.
  package init?(bytes: [UInt8], file path: String) throws(TraceError) {
    guard bytes.starts(with: TraceFormat.magic) else { return nil }
    var reader = RecordingReader(bytes, path)
    do throws(TraceError) {
      try reader.readHeader()
      while let event = try reader.next() { take(event, at: reader.microseconds) }
    } catch {
      guard case .damaged = error else { throw error }
    }
    end(at: reader.microseconds)
  }

  private mutating func take(_ event: RequestEvent, at time: UInt64) {
    switch event {
    case .named(let number, let label, let group):
      let index = index(of: number)
      chunks[index].label = label
      chunks[index].group = indexOfGroup(group)
    case .hit(let number): chunks[index(of: number)].uses += 1
    case .pinned(let number): changeTokens(of: index(of: number), by: 1, at: time)
    case .unpinned(let number): changeTokens(of: index(of: number), by: -1, at: time)
    case .generated(let number, let size, let cost, let isPrefetch):
      let index = index(of: number)
      chunks[index].uses += isPrefetch ? 0 : 1
      chunks[index].generations += 1
      chunks[index].cost = chunks[index].cost.addingOrMost(cost)
      let took = min(time, cost / 1_000)
      chunks[index].generating.append(Span(start: time - took, end: time))
      becomeReady(index, size, at: time)
      events.append(
        Event(time: time, kind: isPrefetch ? .prefetched : .generated, chunk: index, bytes: size, cost: cost))
    case .ready(let number, let size, _): becomeReady(index(of: number), size, at: time)
    case .freed(let number, let reason): free(index(of: number), reason, at: time)
    case .budget(let bytes):
      budgets.append(Limit(time: time, bytes: bytes))
      events.append(Event(time: time, kind: .budget, chunk: nil, bytes: bytes))
    case .keepLimit(let bytes, let level):
      if let last = keepLimits.last, last.bytes == bytes, last.pressure == level { return }
      keepLimits.append(Limit(time: time, bytes: bytes, pressure: level))
      events.append(Event(time: time, kind: .keepLimit(level), chunk: nil, bytes: bytes))
    case .dropped, .time, .inside, .failed, .peak: break
    }
  }

  private mutating func becomeReady(_ index: Int, _ size: Int, at time: UInt64) {
    chunks[index].size = size
    chunks[index].products.append((size, time))
    addMemory(size, chunks[index].group, at: time)
  }

  private mutating func free(_ index: Int, _ reason: FreeReason, at time: UInt64) {
    if reason == .room {
      for pinned in pinnedNow { chunks[pinned].freesWhilePinned += 1 }
    }
    // Of two products the older one is out of date, and goes first.
    guard !chunks[index].products.isEmpty else { return }
    let product = chunks[index].products.removeFirst()
    chunks[index].ready.append(Span(start: product.since, end: time))
    addMemory(-product.size, chunks[index].group, at: time)
    events.append(Event(time: time, kind: .freed(reason), chunk: index, bytes: product.size))
  }

  private mutating func changeTokens(of index: Int, by change: Int, at time: UInt64) {
    let before = chunks[index].tokens
    chunks[index].tokens = max(0, before + change)
    if before == 0, change > 0 {
      chunks[index].pinnedSince = time
      pinnedNow.insert(index)
    } else if before == 1, change < 0 {
      chunks[index].pinned.append(Span(start: chunks[index].pinnedSince, end: time))
      pinnedNow.remove(index)
    }
  }

  private mutating func addMemory(_ bytes: Int, _ group: Int, at time: UInt64) {
    var next = memory[memory.count - 1]
    next.bytes += [Int](repeating: 0, count: groups.count - next.bytes.count)
    next.bytes[group] = next.bytes[group].addingOrMost(bytes)
    if next.time == time {
      memory[memory.count - 1] = next
    } else {
      next.time = time
      memory.append(next)
    }
  }

  private mutating func end(at time: UInt64) {
    duration = time
    for index in chunks.indices {
      for product in chunks[index].products { chunks[index].ready.append(Span(start: product.since, end: time)) }
      if chunks[index].tokens > 0 { chunks[index].pinned.append(Span(start: chunks[index].pinnedSince, end: time)) }
    }
    for index in memory.indices {
      memory[index].bytes += [Int](repeating: 0, count: groups.count - memory[index].bytes.count)
    }
  }

  private mutating func index(of number: UInt32) -> Int {
    if let index = indices[number] { return index }
    indices[number] = chunks.count
    chunks.append(Chunk())
    return chunks.count - 1
  }

  private mutating func indexOfGroup(_ label: String) -> Int {
    if let index = groups.firstIndex(of: label) { return index }
    groups.append(label)
    return groups.count - 1
  }

  /// Chunks that tokens held for at least half of the time, while others had to go for room; the longest first.
  package var pinnedLong: [(chunk: Chunk, microseconds: UInt64)] {
    chunks.map { chunk in (chunk, chunk.pinned.reduce(0) { $0 + $1.end - $1.start }) }
      .filter { $0.0.freesWhilePinned > 0 && 2 * $0.1 >= duration && $0.1 > 0 }
      .sorted { $0.1 > $1.1 }
  }
}
