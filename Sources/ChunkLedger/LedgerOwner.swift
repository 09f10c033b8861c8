/// What the ledger must ask of whoever owns the chunks.
///
/// Stamps and pins are written by hits, which take no lock; so they live in the chunks, and the
/// ledger, which holds none of them, asks. The pool answers from its chunks, the replayer from a
/// trace, a test from an array.
package protocol LedgerOwner: ~Copyable {
  /// A stamp not below any given until now: what ages are measured from.
  var now: UInt64 { get }

  /// How the chunk in `slot` has been used until now.
  func use(of slot: Slot) -> ChunkUse

  /// Tries to make the chunk in `slot` a victim: nobody can begin to use it from then on.
  ///
  /// When the chunk is in use, the owner marks it in the same step, so that the end of its last use
  /// is reported to the ledger as `unpark`.
  mutating func claim(_ slot: Slot) -> Claim

  /// Takes a claim back: the chunk is ready again, as if nothing had happened.
  mutating func unclaim(_ slot: Slot)
}

/// How a chunk has been used: what an evict order may go by.
package struct ChunkUse: Sendable {
  /// When it was last used, on a counter that only rises.
  package var stamp: UInt64
  /// How often it has been used since it was made.
  package var uses: UInt64
  /// What generating it took when it was last generated, in nanoseconds.
  package var cost: UInt64
  /// The chunk's number, for orders that want requests; 0 for none.
  package var number: UInt32

  package init(stamp: UInt64, uses: UInt64 = 0, cost: UInt64 = 0, number: UInt32 = 0) {
    self.stamp = stamp
    self.uses = uses
    self.cost = cost
    self.number = number
  }
}

/// The owner's answer to a claim.
package enum Claim: Sendable {
  case claimed
  /// In use, and some of that use ends by itself: a scope.
  case inUse
  /// In use by tokens only, which somebody may hold for as long as they like.
  case held
}
