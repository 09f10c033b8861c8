/// What would be generated at each of several budgets.
public struct BudgetCurve: Sendable {
  /// What one budget costs.
  public struct Point: Sendable, Equatable {
    /// Bytes.
    public var budget: Int
    /// Generations.
    public internal(set) var misses = 0
    /// Bytes generated.
    public internal(set) var missedBytes = 0
    /// What generating took, in nanoseconds.
    public internal(set) var missedCost: UInt64 = 0
  }

  /// One for each budget that was asked for, rising.
  public private(set) var points: [Point]

  /// The curve of exact least recently used, in one pass.
  ///
  /// A request is a hit where the bytes of all that was used since its object's last use, the object included, are within the
  /// budget. Objects above a budget never take room in it, so each budget below the largest object keeps a sum of its own, and
  /// all others share one: O(requests * log(objects) * (1 + budgets below the largest object)), O(objects) memory for each sum.
  ///
  /// Where objects need others, or more bytes while they are generated, what is asked for and what stays is not the same at
  /// all budgets: then each is replayed.
  ///
  /// Source: Mattson and others, "Evaluation techniques for storage hierarchies", 1970.
  public init(_ trace: Trace, budgets: [Int]) {
    guard trace.isPlain else {
      points = Self.replays(of: trace, budgets, .lru)
      return
    }
    points = Set(budgets).sorted().map { Point(budget: $0) }
    var all = Point(budget: 0)
    for object in trace.requests { all.add(trace.objects[Int(object)]) }
    for index in points.indices { points[index].take(all) }
    let largest = trace.objects.map(\.size).max() ?? 0
    let small = points.prefix { $0.budget < largest }.count
    for index in 0..<small { countHits(trace, from: index, through: index, largest: points[index].budget) }
    if small < points.count { countHits(trace, from: small, through: points.count - 1, largest: largest) }
    for index in points.indices { points[index].add(trace.planned(for: points[index].budget)) }
  }

  /// The curve of any policy, by a replay at every budget.
  public init(_ trace: Trace, budgets: [Int], policy: ReplayPolicy) {
    self.init(trace, budgets: policy == .lru ? budgets : [])
    if policy != .lru { points = Self.replays(of: trace, budgets, policy) }
  }

  private static func replays(of trace: Trace, _ budgets: [Int], _ policy: ReplayPolicy) -> [Point] {
    Set(budgets).sorted().map { budget in
      let result = trace.replay(policy, budget: budget)
      return Point(
        budget: budget, misses: result.misses, missedBytes: result.missedBytes, missedCost: result.missedCost)
    }
  }

  /// Takes off the hits at some of the points, for which no object above `largest` takes room.
  private mutating func countHits(_ trace: Trace, from first: Int, through last: Int, largest: Int) {
    var distances = UseDistances(objects: trace.objects.count)
    var firstHits = points[first...last].map { Point(budget: $0.budget) }
    for object in trace.requests {
      let known = trace.objects[Int(object)]
      guard known.size <= largest, let distance = distances.use(Int(object), size: known.size) else { continue }
      // The first budget that is enough: it is a hit there and above.
      var (low, high) = (0, firstHits.count)
      while low < high {
        let middle = (low + high) / 2
        if firstHits[middle].budget < distance { low = middle + 1 } else { high = middle }
      }
      if low < firstHits.count { firstHits[low].add(known) }
    }
    var hits = Point(budget: 0)
    for (index, more) in firstHits.enumerated() {
      hits.misses += more.misses
      hits.missedBytes += more.missedBytes
      hits.missedCost += more.missedCost
      points[first + index].misses -= hits.misses
      points[first + index].missedBytes -= hits.missedBytes
      points[first + index].missedCost -= hits.missedCost
    }
  }
}

extension BudgetCurve.Point {
  fileprivate mutating func add(_ object: Trace.Object) {
    misses += 1
    missedBytes += object.size
    missedCost += object.cost
  }

  fileprivate mutating func add(_ plan: BudgetPlan) {
    misses += plan.generations
    missedBytes = missedBytes.addingOrMost(plan.generatedBytes)
    missedCost = missedCost.addingOrMost(plan.nanoseconds)
  }

  fileprivate mutating func take(_ other: BudgetCurve.Point) {
    misses = other.misses
    missedBytes = other.missedBytes
    missedCost = other.missedCost
  }
}

/// The bytes of all that was used since an object's last use.
///
/// A Fenwick tree over places in time; the places are given out anew when they are used up, so that memory follows the number of
/// objects, not of requests.
private struct UseDistances {
  private var sums: [Int]
  private var objectAt: [Int32]
  private var placeOf: [Int]
  private var sizes: [Int]
  private var next = 1

  init(objects: Int) {
    let places = 2 * objects + 64
    sums = Array(repeating: 0, count: places + 1)
    objectAt = Array(repeating: -1, count: places + 1)
    placeOf = Array(repeating: 0, count: objects)
    sizes = Array(repeating: 0, count: objects)
  }

  /// A use: the bytes of what was used since the last one, the object included; nil for the first. O(log objects).
  mutating func use(_ object: Int, size: Int) -> Int? {
    if next == sums.count { renumber() }
    sizes[object] = size
    var distance: Int?
    let last = placeOf[object]
    if last > 0 {
      distance = sum(to: next - 1) - sum(to: last - 1)
      add(-size, at: last)
      objectAt[last] = -1
    }
    take(next, object)
    return distance
  }

  private mutating func take(_ place: Int, _ object: Int) {
    add(sizes[object], at: place)
    objectAt[place] = Int32(object)
    placeOf[object] = place
    next = place + 1
  }

  private mutating func renumber() {
    let line = objectAt.filter { $0 >= 0 }
    for index in sums.indices {
      sums[index] = 0
      objectAt[index] = -1
    }
    for (index, object) in line.enumerated() { take(index + 1, Int(object)) }
  }

  private mutating func add(_ bytes: Int, at place: Int) {
    var place = place
    while place < sums.count {
      sums[place] += bytes
      place += place & -place
    }
  }

  private func sum(to place: Int) -> Int {
    var (sum, place) = (0, place)
    while place > 0 {
      sum += sums[place]
      place -= place & -place
    }
    return sum
  }
}
