import ChunkLedger

/// Requests that wait for room, those in use before prefetches, else as they came. Guarded by the pool's lock.
///
/// Of many waiting tasks one change can help a few at most, and to look at all of them for each would cost the square of
/// their number. So tasks stand in lines in which all are decided alike but for the bytes that they need, and of a line
/// only those are looked at that need less than what is known to be refused; or whose chunk has changed, which is marked.
/// Threads are few, and what each is in the middle of decides, too: they are looked at each time.
struct WaitingQueue {
  /// What decides over a task's request beside bytes.
  struct Kind: Hashable {
    /// The one group in which it needs room; nil for requests that are looked at each time.
    var group: GroupIndex?
    var hasDeadline = false
    var isToken = false
    var isPrefetch = false

    init(_ request: Request) {
      isPrefetch = request.purpose == .prefetch
      let first = request.chunks[0].group.index
      guard request.thread == nil, request.chunks.allSatisfy({ $0.group.index == first }) else { return }
      group = first
      hasDeadline = request.deadline != nil
      isToken = request.purpose == .token
    }
  }

  /// What a request needs, as a line knows it.
  enum Need {
    /// It is to be looked at next time, whatever it needs.
    static let aLook = 0
    /// Nothing that room could give: it waits until its chunk is marked.
    static let aMark = Int.max - 1
    static func room(_ bytes: Int) -> Int { 1 + bytes }
  }

  /// Which requests of a line are to be looked at: those that need less.
  enum Limit {
    static let all = Int.max
    static let marked = Need.aLook + 1
    /// So many bytes are refused; `.max` if nothing is known to be.
    static func refused(_ bytes: Int) -> Int { min(bytes, Need.aMark - 1) + 1 }
  }

  private var lines: [Kind: WaitingLine] = [:]
  private var nextTurn: UInt64 = 1
  /// Those in lines of a group, by their chunks.
  private var byChunk: [ObjectIdentifier: [ObjectIdentifier: Request]] = [:]

  var isEmpty: Bool { lines.isEmpty }
  var count: Int { lines.values.reduce(0) { $0 + $1.count } }
  var requests: [Request] { lines.values.flatMap(\.requests) }

  mutating func append(_ request: Request, need: Int) {
    let kind = Kind(request)
    request.turn = (kind.isPrefetch ? 1 << 63 : 0) | nextTurn
    nextTurn += 1
    lines[kind, default: WaitingLine()].append(request, need: kind.group == nil ? Need.aLook : need)
    guard kind.group != nil else { return }
    for chunk in request.chunks { byChunk[ObjectIdentifier(chunk), default: [:]][ObjectIdentifier(request)] = request }
  }

  mutating func remove(_ request: Request) {
    let kind = Kind(request)
    lines[kind]!.remove(request)
    if lines[kind]!.isEmpty { lines[kind] = nil }
    guard kind.group != nil else { return }
    for chunk in request.chunks {
      byChunk[ObjectIdentifier(chunk)]![ObjectIdentifier(request)] = nil
      if byChunk[ObjectIdentifier(chunk)]!.isEmpty { byChunk[ObjectIdentifier(chunk)] = nil }
    }
  }

  /// A request was looked at and goes on waiting.
  mutating func setNeed(_ need: Int, of request: Request) {
    let kind = Kind(request)
    if kind.group != nil { lines[kind]!.setNeed(need, of: request) }
  }

  /// A chunk changed in a way that may decide anew over requests for it.
  mutating func mark(_ chunk: MemChunk) {
    guard !byChunk.isEmpty, let waiting = byChunk[ObjectIdentifier(chunk)] else { return }
    for request in waiting.values { setNeed(Need.aLook, of: request) }
  }

  /// A limit changed: what could be had may not be possible any more.
  mutating func markAll() {
    for request in requests { setNeed(Need.aLook, of: request) }
  }

  /// The next after a turn, among those that each line's limit leaves to be looked at.
  ///
  /// - Parameter limit: asked for each line of a group, with one of its requests.
  func next(after turn: UInt64, limit: (GroupIndex, Request) -> Int) -> Request? {
    var next: Request?
    for (kind, line) in lines {
      guard let first = line.next(after: turn, below: Limit.all) else { continue }
      if let next, next.turn < first.turn { continue }
      let found = kind.group.map { line.next(after: turn, below: limit($0, first)) } ?? first
      if let found, next == nil || found.turn < next!.turn { next = found }
    }
    return next
  }
}
