/// The number under which the books know a product that is not empty.
///
/// A slot is given out when room is promised and taken back when the bytes have left the count, so
/// that empty chunks, however many, cost the ledger nothing.
package struct Slot: Hashable, Sendable {
  package let index: Int

  package init(_ index: Int) {
    self.index = index
  }

  /// What a chunk stores when it has no slot.
  package static let none = Slot(-1)
}

/// The number of a group in the ledger; group 0 is the pool's own, which has no limit.
package struct GroupIndex: Hashable, Sendable {
  package let index: Int

  package init(_ index: Int) {
    self.index = index
  }

  package static let pool = GroupIndex(0)
}
