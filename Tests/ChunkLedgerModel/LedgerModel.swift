import ChunkLedger

/// The books as plainly as they can be kept: arrays, and a walk over all of them for every question.
///
/// Nothing is added up and carried along, so nothing can be carried along wrongly; the only state is
/// what each slot, group and promise is. What it says must be what the ledger says, which knows the same
/// from heaps, lists and running totals.
package struct LedgerModel {
  /// One slot.
  struct Chunk {
    var state = SlotState.vacant
    var size = 0
    var group = 0
    var pages = PageRun(start: 0, count: 0)
    var parking = Parking.none
    var departs = false

    /// It can be looked at as a victim.
    var isInLine: Bool { state == .ready && size > 0 && parking == .none }
  }

  /// By what a ready chunk was found in use.
  enum Parking {
    case none
    case byScope
    case byTokens
  }

  struct Group {
    var limit: Int
    var weight: Double
    var boundTo: UInt = 0
    var isLive = true
    /// The least that its limit refused since something changed; as much is refused without a look.
    var refused = Int.max
  }

  /// Room promised to a request whose victims are being freed.
  struct Promise {
    var needs: Few<RoomNeed>
    var victims: [Int]
    /// What is held back beside the victims, and how much of that is for pages of the arena.
    var plain: Int
    var pledged: Int
    /// What is held back in each group, by the number of the group.
    var inGroup: [Int]
  }

  /// Bytes that a free handed back late.
  struct Late {
    var bytes: Int
    var group: Int
  }

  var budget: Int
  var keepLimit: Int
  let pageSize: Int
  /// Least recently used first; else the largest first, among equals the least recently used.
  let goesByRecency: Bool
  var peak = 0
  /// The least that was refused because there was not so much at all, since something changed.
  var refused = Int.max
  /// The same for requests to which only some groups were open: it holds for others of the kind.
  var refusedInPart: [(open: [Int], bytes: Int)] = []
  var chunks: [Chunk] = []
  var groups = [Group(limit: .max, weight: 1)]
  var promises: [Promise] = []
  var late: [Late] = []
  var board = PageBoard()
  var owner = ScriptedOwner()
}

extension LedgerModel {
  /// The slots that satisfy `condition`.
  func slots(where condition: (Chunk) -> Bool) -> [Int] {
    var found: [Int] = []
    for index in chunks.indices where condition(chunks[index]) { found.append(index) }
    return found
  }

  func bytes(where condition: (Chunk) -> Bool) -> Int {
    var bytes = 0
    for chunk in chunks where condition(chunk) { bytes += chunk.size }
    return bytes
  }

  var ready: Int { bytes { $0.state == .ready || $0.state == .retired } }

  var reserved: Int {
    var bytes = bytes { $0.state == .generating }
    for promise in promises { bytes += promise.plain }
    return bytes
  }

  var freeing: Int {
    var bytes = bytes { $0.state == .freeing }
    for part in late { bytes += part.bytes }
    return bytes
  }

  var pledged: Int {
    var bytes = 0
    for promise in promises { bytes += promise.pledged }
    return bytes
  }

  var warmBytes: Int { board.warmPages * pageSize }
  var counted: Int { ready + reserved + freeing + max(pledged, warmBytes) }
  var room: Int { budget - ready - reserved - freeing - pledged }

  /// Bytes of a group: ready, reserved by generations, being freed, held back for promises.
  func totals(of group: Int) -> (ready: Int, reserved: Int, freeing: Int, held: Int) {
    var (ready, reserved, freeing, held) = (0, 0, 0, 0)
    for chunk in chunks where chunk.group == group {
      switch chunk.state {
      case .vacant: break
      case .generating: reserved += chunk.size
      case .ready, .retired: ready += chunk.size
      case .freeing: freeing += chunk.size
      }
    }
    for part in late where part.group == group { freeing += part.bytes }
    for promise in promises where promise.inGroup.count > group { held += promise.inGroup[group] }
    return (ready, reserved, freeing, held)
  }

  func counted(in group: Int) -> Int {
    let totals = totals(of: group)
    return totals.ready + totals.reserved + totals.freeing + totals.held
  }

  /// Something happened that could turn a refusal into a grant.
  mutating func forgetRefusals() {
    refused = .max
    refusedInPart = []
    for index in groups.indices { groups[index].refused = .max }
  }
}
