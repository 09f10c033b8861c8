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
}

/// Exact least-recently-used: the default.
package struct LeastRecentlyUsed: EvictOrder {
  package init() {}

  package func key(for use: ChunkUse, size: Int) -> UInt64 { use.stamp }
  package mutating func chose(key: UInt64) {}
  package var followsRecency: Bool { true }
}
