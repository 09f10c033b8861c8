/// Requests for objects, in their order: what replays, curves and advice are made from.
///
/// An object is what a chunk is to a pool. Each keeps the size with which it came first, and a cost above zero likewise: so do
/// other simulators, and so the same trace means the same everywhere.
///
/// What an object is generated from is asked for where it is missing, and only there. So it is not among the requests: the
/// object says what it needs, and a replay asks for that where the object turns out to be a miss.
public struct Trace: Sendable {
  /// What was asked for at least once, be it by a generation.
  public struct Object: Sendable, Equatable {
    /// What it is called where the trace came from.
    public var key: UInt64
    /// Bytes of the product.
    public var size: Int
    /// What generating it takes, in nanoseconds.
    public var cost: UInt64
    /// The chunk's label and its group's; empty where the trace knows none.
    public var label = ""
    /// Bytes that generating it takes while it lasts, where that is more than `size`.
    public var workingPeak = 0
    /// What its generation asks for, in that order and as often as it does: indices in the trace's `objects`.
    public internal(set) var needs: [Int32] = []

    /// The bytes for which room is made.
    var peak: Int { max(size, workingPeak) }

    /// Makes an object: a size in bytes, a cost in nanoseconds.
    public init(key: UInt64, size: Int, cost: UInt64, label: String = "") {
      self.key = key
      self.size = size
      self.cost = cost
      self.label = label
    }
  }

  /// All objects, in the order in which they were first asked for.
  public private(set) var objects: [Object] = []
  /// The indices in `objects` of what was asked for, other than by generations.
  public private(set) var requests: [Int32] = []
  /// What was planned by the budget, instead of the requests that followed those plans.
  ///
  /// It counts in replays, curves and advice by the plan for their budget, under every policy alike, as if it had the budget
  /// alone: nothing is known of what its products push out.
  public internal(set) var plannedWork: [PlannedWork] = []
  private var indices: [UInt64: Int32] = [:]

  /// Makes a trace without requests.
  public init() {}

  /// Adds a request. O(1) amortised.
  public mutating func append(key: UInt64, size: Int, cost: UInt64, label: String = "") {
    requests.append(add(key: key, size: size, cost: cost, label: label))
  }

  /// Adds an object that is not asked for, unless it is there; its index. O(1) amortised.
  package mutating func add(key: UInt64, size: Int, cost: UInt64, label: String = "") -> Int32 {
    let index = indices[key] ?? Int32(objects.count)
    if Int(index) == objects.count {
      indices[key] = index
      objects.append(Object(key: key, size: size, cost: cost, label: label))
    } else if objects[Int(index)].cost == 0 {
      objects[Int(index)].cost = cost
    }
    return index
  }

  /// Says what generating an object asks for, and how many bytes it takes while it lasts.
  package mutating func setNeeds(_ needs: [Int32], workingPeak: Int = 0, of object: Int32) {
    objects[Int(object)].needs = needs
    objects[Int(object)].workingPeak = workingPeak
  }

  /// Whether every request is served by itself, in the room of its product: nothing needs anything.
  var isPlain: Bool { objects.allSatisfy { $0.needs.isEmpty && $0.workingPeak <= $0.size } }

  /// An object, and all that generating it may ask for.
  func needed(for object: Int32) -> [Int32] {
    guard !objects[Int(object)].needs.isEmpty else { return [object] }
    var all = [object]
    var seen: Set<Int32> = [object]
    var next = 0
    while next < all.count {
      for need in objects[Int(all[next])].needs where seen.insert(need).inserted { all.append(need) }
      next += 1
    }
    return all
  }

  /// Bytes of all objects together: with this budget, each is generated once.
  public var footprint: Int { objects.reduce(0) { $0.addingOrMost($1.size) } }

  /// Whether sums of sizes and of costs, which replays make, can be counted: not so in files that somebody made up. O(requests).
  ///
  /// With needs, a request may lead to many more, which `ReplayResult` thinks of.
  var isCountable: Bool {
    var (bytes, cost, generations) = (footprint, UInt64(0), 0)
    for object in objects { cost = cost.addingOrMost(object.cost) }
    for request in requests {
      bytes = bytes.addingOrMost(objects[Int(request)].size)
      cost = cost.addingOrMost(objects[Int(request)].cost)
    }
    for plan in plannedWork.flatMap(\.plans) {
      bytes = bytes.addingOrMost(plan.generatedBytes)
      cost = cost.addingOrMost(plan.nanoseconds)
      generations = generations.addingOrMost(plan.generations)
    }
    return bytes < 1 << 60 && cost < 1 << 60 && generations < 1 << 60
  }

  /// The same requests with other costs, in nanoseconds. O(objects).
  public func withCosts(_ cost: (Object) -> UInt64) -> Trace {
    var trace = self
    for index in objects.indices { trace.objects[index].cost = cost(objects[index]) }
    return trace
  }
}

extension FixedWidthInteger {
  /// The sum, or the largest number where it is above that.
  package func addingOrMost(_ other: Self) -> Self {
    let (sum, isAbove) = addingReportingOverflow(other)
    return isAbove ? .max : sum
  }

  /// The product, or the largest number where it is above that.
  package func timesOrMost(_ other: Self) -> Self {
    let (product, isAbove) = multipliedReportingOverflow(by: other)
    return isAbove ? .max : product
  }
}
