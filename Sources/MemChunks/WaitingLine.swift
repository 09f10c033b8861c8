/// Requests that wait, in the order in which they came. With each stands what it needs, as a number; the next that needs
/// less than a limit is found without looking at those that do not. Entering, leaving and finding are O(log n).
struct WaitingLine {
  private struct Place {
    let turn: UInt64
    var request: Request?
  }

  /// One for each request, and for some that have gone.
  private var places: [Place] = []
  /// A tree of minima: below node n lie 2n and 2n + 1, and the leaves are the places. `.max` where nobody stands.
  private var least: [Int] = []
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }
  var requests: [Request] { places.compactMap(\.request) }

  private var width: Int { least.count / 2 }

  /// Adds a request at the end. It must wait in no other line.
  mutating func append(_ request: Request, need: Int = 0) {
    if places.count == width { makeWay() }
    request.position = places.count
    places.append(Place(turn: request.turn, request: request))
    count += 1
    setNeed(need, of: request)
  }

  mutating func remove(_ request: Request) {
    setNeed(.max, of: request)
    places[request.position].request = nil
    count -= 1
  }

  mutating func setNeed(_ need: Int, of request: Request) {
    var node = width + request.position
    least[node] = need
    while node > 1 {
      node /= 2
      least[node] = min(least[2 * node], least[2 * node + 1])
    }
  }

  /// The first whose turn comes after `turn` and that needs less than `limit`.
  func next(after turn: UInt64, below limit: Int) -> Request? {
    guard count > 0, var node = firstPlace(after: turn).map({ $0 + width }) else { return nil }
    while least[node] >= limit {
      // On to the tree on the right, which begins where this one ends.
      while node % 2 == 1 { node /= 2 }
      if node == 0 { return nil }
      node += 1
    }
    while node < width { node = least[2 * node] < limit ? 2 * node : 2 * node + 1 }
    return places[node - width].request
  }

  /// Turns rise from place to place.
  private func firstPlace(after turn: UInt64) -> Int? {
    var (low, high) = (0, places.count)
    while low < high {
      let middle = (low + high) / 2
      if places[middle].turn > turn { high = middle } else { low = middle + 1 }
    }
    return low < places.count ? low : nil
  }

  /// Drops the places of those who have gone and makes at least as many new ones as are left, so that a request is moved
  /// once, on average.
  private mutating func makeWay() {
    let left = places.filter { $0.request != nil }.map { ($0, least[width + $0.request!.position]) }
    var wanted = 4
    while wanted < 2 * left.count { wanted *= 2 }
    places.removeAll(keepingCapacity: true)
    least = Array(repeating: .max, count: 2 * wanted)
    for (place, need) in left {
      place.request!.position = places.count
      places.append(place)
      setNeed(need, of: place.request!)
    }
  }
}
