import ChunkLedger

/// GreedyDual-Size-Frequency as it was published: the priority is `age + uses * cost / size`, the age that of the last
/// victim.
///
/// In the pool's mode what went keeps half of its uses; in libCacheSim's it is forgotten, and all costs are equal.
///
/// Sources: Cao and Irani, 1997; Cherkasova, 1998; libCacheSim 0.3.5 for the order of its steps.
struct FrequencyReplay: Replayer {
  private struct Place {
    var priority = 0.0
    var uses = 0.0
    /// The number of the last request, by which equal priorities are told apart; 0 when it is not in the cache.
    var lastRequest = 0
  }

  private struct Candidate {
    var priority: Double
    var lastRequest: Int
    var object: Int32

    static func isBefore(_ one: Candidate, _ other: Candidate) -> Bool {
      (one.priority, one.lastRequest) < (other.priority, other.lastRequest)
    }
  }

  private var places: [Place]
  private var candidates = MinimumHeap<Candidate>(Candidate.isBefore)
  private var age = 0.0
  private var bytes = 0
  /// Part of the bytes: room that is made and not used yet.
  private var reserved = 0
  private var request = 0
  private let objects: [Trace.Object]
  private let budget: Int
  private let mode: ReplayMode

  init(_ trace: Trace, budget: Int, mode: ReplayMode) {
    places = Array(repeating: Place(), count: trace.objects.count)
    objects = trace.objects
    self.budget = budget
    self.mode = mode
  }

  mutating func begin(_ object: Int32, inside outer: Int32) -> ReplayStep {
    request += 1
    if places[Int(object)].lastRequest > 0 {
      places[Int(object)].uses += 1
      rank(object)
      return .hit
    }
    let room = mode == .hard ? objects[Int(object)].peak : objects[Int(object)].size
    guard room <= budget - reserved else { return .refused }
    guard mode == .hard else { return .room }
    removeWhile { $0 + room > $1 }
    bytes += room
    reserved += room
    return .room
  }

  mutating func end(_ object: Int32) {
    places[Int(object)].uses += 1
    rank(object)
    bytes += objects[Int(object)].size
    if mode == .libCacheSim {
      removeWhile { $0 > $1 }
    } else {
      bytes -= objects[Int(object)].peak
      reserved -= objects[Int(object)].peak
    }
  }

  private mutating func rank(_ object: Int32) {
    let cost = mode == .libCacheSim ? 1e6 : Double(objects[Int(object)].cost)
    let value = places[Int(object)].uses * cost / Double(objects[Int(object)].size)
    places[Int(object)].priority = age + value
    places[Int(object)].lastRequest = request
    candidates.insert(Candidate(priority: age + value, lastRequest: request, object: object))
  }

  private mutating func removeWhile(_ isTooMuch: (_ bytes: Int, _ budget: Int) -> Bool) {
    while isTooMuch(bytes, budget), let least = candidates.removeLeast() {
      // A hit leaves the old candidate where it is; only the last one counts.
      guard places[Int(least.object)].lastRequest == least.lastRequest else { continue }
      places[Int(least.object)].lastRequest = 0
      places[Int(least.object)].uses *= mode == .hard ? 0.5 : 0
      age = least.priority
      bytes -= objects[Int(least.object)].size
    }
  }
}

/// A binary heap, least first.
struct MinimumHeap<Element> {
  private var items: [Element] = []
  private let isBefore: (Element, Element) -> Bool

  init(_ isBefore: @escaping (Element, Element) -> Bool) {
    self.isBefore = isBefore
  }

  /// O(log n).
  mutating func insert(_ element: Element) {
    items.append(element)
    var index = items.count - 1
    while index > 0, isBefore(items[index], items[(index - 1) / 2]) {
      items.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  /// O(log n).
  mutating func removeLeast() -> Element? {
    guard let least = items.first else { return nil }
    items[0] = items[items.count - 1]
    items.removeLast()
    var index = 0
    while true {
      var least = index
      for child in [2 * index + 1, 2 * index + 2] where child < items.count && isBefore(items[child], items[least]) {
        least = child
      }
      if least == index { break }
      items.swapAt(index, least)
      index = least
    }
    return least
  }
}
