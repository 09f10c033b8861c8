/// The order in which chunks are freed: a small value that turns a use into a place in the line.
///
/// The ledger keeps a heap of keys and looks at the least one first. A key is computed when a chunk
/// enters the heap, and again only if the chunk turns out to have been used since.
package protocol EvictOrder: Sendable {
  /// The place in the line: the least key goes first. It must not fall when a chunk is used again,
  /// or the heap could not find the least.
  func key(for use: ChunkUse, size: Int) -> UInt64

  /// Called when a chunk goes, for orders that age what stays.
  mutating func chose(key: UInt64)

  /// True when the keys are the stamps. Then the first chunk that a frame protects ends the look,
  /// because everything behind it is protected too; and groups' weights apply.
  var followsRecency: Bool { get }

  /// True when a victim that turns out not to be needed, because a larger one was claimed after it, stays.
  /// Exact orders say no: there whose turn it is goes.
  var sparesExcess: Bool { get }

  /// False when it does not matter what generating takes.
  var weighsCosts: Bool { get }

  /// True when the order wants to be told of every request, hits too.
  var wantsRequests: Bool { get }

  /// Tells of a request, in the order in which requests came: of a miss when its cost is known, before its chunk enters
  /// the line.
  mutating func note(_ request: OrderedRequest)

  /// True once after the meaning of keys has changed: the ledger computes all of them anew.
  mutating func takeKeyChange() -> Bool
}

extension EvictOrder {
  package var sparesExcess: Bool { false }
  package var weighsCosts: Bool { true }
  package var wantsRequests: Bool { false }
  package mutating func note(_ request: OrderedRequest) {}
  package mutating func takeKeyChange() -> Bool { false }
}

/// What an order that wants requests is told of one.
package struct OrderedRequest: Sendable {
  /// The chunk's number: small, never 0, and its own as long as the pool lives.
  package var number: UInt32
  /// Bytes of its product.
  package var size: Int
  /// What generating it took, in nanoseconds.
  package var cost: UInt64
  /// The budget at that moment, in bytes.
  package var budget: Int
  /// How many chunks are not empty.
  package var residents: Int

  package init(number: UInt32, size: Int, cost: UInt64, budget: Int, residents: Int) {
    self.number = number
    self.size = size
    self.cost = cost
    self.budget = budget
    self.residents = residents
  }
}

/// Exact least-recently-used: the default.
package struct LeastRecentlyUsed: EvictOrder {
  package init() {}

  package func key(for use: ChunkUse, size: Int) -> UInt64 { use.stamp }
  package mutating func chose(key: UInt64) {}
  package var followsRecency: Bool { true }
  package var weighsCosts: Bool { false }
}
