/// Requests for objects, in their order: what replays, curves and advice are made from.
///
/// An object is what a chunk is to a pool. Each keeps the size with which it came first, and a cost above zero likewise: so do
/// other simulators, and so the same trace means the same everywhere.
public struct Trace: Sendable {
  /// What was asked for, at least once.
  public struct Object: Sendable, Equatable {
    /// What it is called where the trace came from.
    public var key: UInt64
    /// Bytes of the product.
    public var size: Int
    /// What generating it takes, in nanoseconds.
    public var cost: UInt64
    /// The chunk's label and its group's; empty where the trace knows none.
    public var label = ""

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
  /// The indices in `objects` of what was asked for.
  public private(set) var requests: [Int32] = []
  private var indices: [UInt64: Int32] = [:]

  /// Makes a trace without requests.
  public init() {}

  /// Adds a request. O(1) amortised.
  public mutating func append(key: UInt64, size: Int, cost: UInt64, label: String = "") {
    let index = indices[key] ?? Int32(objects.count)
    if Int(index) == objects.count {
      indices[key] = index
      objects.append(Object(key: key, size: size, cost: cost, label: label))
    } else if objects[Int(index)].cost == 0 {
      objects[Int(index)].cost = cost
    }
    requests.append(index)
  }

  /// Bytes of all objects together: with this budget, each is generated once.
  public var footprint: Int { objects.reduce(0) { $0 + $1.size } }

  /// The same requests with other costs, in nanoseconds. O(objects).
  public func withCosts(_ cost: (Object) -> UInt64) -> Trace {
    var trace = self
    for index in objects.indices { trace.objects[index].cost = cost(objects[index]) }
    return trace
  }
}
