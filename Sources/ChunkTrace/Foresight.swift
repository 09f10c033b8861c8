import ChunkLedger

/// When each request's object is asked for again: the index of that request, `Int.max` for never.
struct NextUses {
  let next: [Int]

  init(_ trace: Trace) {
    var next = [Int](repeating: .max, count: trace.requests.count)
    var seen = [Int](repeating: .max, count: trace.objects.count)
    for index in trace.requests.indices.reversed() {
      let object = Int(trace.requests[index])
      next[index] = seen[object]
      seen[object] = index
    }
    self.next = next
  }
}

/// When each object may be asked for: by the trace, or by the generation of what the trace asks for. Whether the latter comes
/// to that depends on what is ready then.
struct PossibleUses {
  /// For each object the indices of such requests of the trace, rising.
  let requests: [[Int32]]

  init(_ trace: Trace) {
    var requests = [[Int32]](repeating: [], count: trace.objects.count)
    var needed = [[Int32]?](repeating: nil, count: trace.objects.count)
    for (index, object) in trace.requests.enumerated() {
      let all = needed[Int(object)] ?? trace.needed(for: object)
      needed[Int(object)] = all
      for object in all { requests[Int(object)].append(Int32(index)) }
    }
    self.requests = requests
  }

  /// The first that comes after one; nil for none.
  func next(of object: Int32, after request: Int) -> Int? {
    let places = requests[Int(object)]
    var (low, high) = (0, places.count)
    while low < high {
      let middle = (low + high) / 2
      if Int(places[middle]) <= request { low = middle + 1 } else { high = middle }
    }
    return low < places.count ? Int(places[low]) : nil
  }
}

/// Room first, with foresight: frees what costs least for its bytes and the time until its next possible use, and what is not
/// used again before all else. Victims that turn out not to be needed stay.
struct OfflineReplay: Replayer {
  private let objects: [Trace.Object]
  private let uses: PossibleUses
  private let budget: Int
  private var request = -1
  private var isReady: [Bool]
  private var ready: [Int32] = []
  private var bytes = 0
  /// Part of the bytes: room that is made and not used yet.
  private var reserved = 0

  init(_ trace: Trace, budget: Int) {
    objects = trace.objects
    uses = PossibleUses(trace)
    self.budget = budget
    isReady = Array(repeating: false, count: objects.count)
  }

  mutating func begin(_ object: Int32, inside outer: Int32) -> ReplayStep {
    if outer < 0 { request += 1 }
    if isReady[Int(object)] { return .hit }
    let peak = objects[Int(object)].peak
    guard peak <= budget - reserved else { return .refused }
    if bytes + peak > budget { makeRoom(bytes + peak - budget) }
    bytes += peak
    reserved += peak
    return .room
  }

  mutating func end(_ object: Int32) {
    isReady[Int(object)] = true
    ready.append(object)
    bytes += objects[Int(object)].size - objects[Int(object)].peak
    reserved -= objects[Int(object)].peak
  }

  private func worth(_ object: Int32) -> Double {
    guard let next = uses.next(of: object, after: request) else { return 0 }
    let known = objects[Int(object)]
    return Double(known.cost) / (Double(max(1, known.size)) * Double(next - request))
  }

  private mutating func makeRoom(_ shortage: Int) {
    let line = ready.map { (worth: worth($0), object: $0) }.sorted { $0.worth < $1.worth }
    var victims: [Int32] = []
    var gained = 0
    for item in line where gained < shortage {
      victims.append(item.object)
      gained += objects[Int(item.object)].size
    }
    for victim in victims.reversed() {
      let size = objects[Int(victim)].size
      if gained - size >= shortage {
        gained -= size
      } else {
        isReady[Int(victim)] = false
      }
    }
    bytes -= gained
    ready.removeAll { !isReady[Int($0)] }
  }
}

extension Trace {
  /// A cost of misses, in nanoseconds, that no order of victims can be below within `budget` bytes.
  ///
  /// Keeping an object from one use to the next takes its size for so long. Those intervals are taken first that save most
  /// for that; together they cannot take more than the budget for the length of the trace. Of what only generations ask for,
  /// the first time counts alone. What is planned by the budget costs what its plan says. O(n log n).
  ///
  /// Source: Berger, Beckmann and Harchol-Balter, "Practical bounds on optimal caching with variable object sizes", 2018
  /// (PFOO-L).
  public func leastMissedCost(budget: Int) -> UInt64 {
    let next = NextUses(self).next
    var isRequested = [Bool](repeating: false, count: objects.count)
    for object in requests { isRequested[Int(object)] = true }
    // Whatever an object was asked by, not keeping it until its next request means generating it once more.
    var total = objects.indices.reduce(0.0) { isRequested[$1] ? $0 : $0 + Double(objects[$1].cost) }
    var intervals: [(area: Double, cost: Double)] = []
    for (index, object) in requests.enumerated() {
      let known = objects[Int(object)]
      total += Double(known.cost)
      guard next[index] != .max, known.size <= budget else { continue }
      intervals.append((Double(known.size) * Double(next[index] - index), Double(known.cost)))
    }
    intervals.sort { $0.cost * $1.area > $1.cost * $0.area }
    var area = Double(budget) * Double(requests.count)
    for interval in intervals where area > 0 {
      // A part of the last one, or the bound would be none.
      total -= interval.cost * min(1, area / max(1, interval.area))
      area -= interval.area
    }
    return UInt64(max(0, total)) + planned(for: budget).nanoseconds
  }
}
