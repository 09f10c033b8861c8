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

/// Room first, with foresight: frees what costs least for its bytes and the time until its next use, and what is not used again
/// before all else. Victims that turn out not to be needed stay.
struct OfflineReplay: Replayer {
  private let objects: [Trace.Object]
  private let uses: NextUses
  private let budget: Int
  private var request = -1
  private var nextUse: [Int]
  private var isReady: [Bool]
  private var ready: [Int32] = []
  private var bytes = 0

  init(_ trace: Trace, budget: Int) {
    objects = trace.objects
    uses = NextUses(trace)
    self.budget = budget
    nextUse = Array(repeating: .max, count: objects.count)
    isReady = Array(repeating: false, count: objects.count)
  }

  mutating func use(_ object: Int32) -> Bool {
    request += 1
    nextUse[Int(object)] = uses.next[request]
    if isReady[Int(object)] { return true }
    let size = objects[Int(object)].size
    guard size <= budget else { return false }
    if bytes + size > budget { makeRoom(bytes + size - budget) }
    isReady[Int(object)] = true
    ready.append(object)
    bytes += size
    return false
  }

  private func worth(_ object: Int32) -> Double {
    guard nextUse[Int(object)] != .max else { return 0 }
    let known = objects[Int(object)]
    return Double(known.cost) / (Double(max(1, known.size)) * Double(nextUse[Int(object)] - request))
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
  /// for that; together they cannot take more than the budget for the length of the trace. O(n log n).
  ///
  /// Source: Berger, Beckmann and Harchol-Balter, "Practical bounds on optimal caching with variable object sizes", 2018
  /// (PFOO-L).
  public func leastMissedCost(budget: Int) -> UInt64 {
    let next = NextUses(self).next
    var total = 0.0
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
    return UInt64(max(0, total))
  }
}
