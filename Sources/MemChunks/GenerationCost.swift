import CMemChunks
package import ChunkLedger

/// What generating one chunk takes by itself, and which others it needed for that.
///
/// What generating it *now* would take follows from what of them is ready: a picture is cheap as long as what it is made from
/// is there, so it goes first; when that goes too, the picture becomes dear. Only chunks that need others, or are needed,
/// have one. It outlives its chunk where others still remember needing it. Guarded by the pool's lock; a replay, which has
/// no chunks, has cards of its own.
package final class CostCard {
  /// Nanoseconds, without what others took that were generated inside.
  private var own: UInt64
  /// Where its product sits while there is one.
  private(set) var slot: Slot?
  private var needs: [CostCard] = []
  private var dependents: [Dependent] = []

  private struct Dependent { weak var card: CostCard? }

  /// More needs than that, or chains that are longer, are not followed: this is looked at while others wait for the lock.
  private static let mostNeeds = 8
  private static let longestChain = 3
  /// More dependents than that learn of a change only when they are next used.
  private static let mostDependents = 64

  package init(own: UInt64, slot: Slot?) {
    self.own = own
    self.slot = slot
  }

  /// Nanoseconds, with what is not ready of what it needs.
  package var now: UInt64 { now(Self.longestChain) }

  private func now(_ chain: Int) -> UInt64 {
    guard chain > 0 else { return own }
    return needs.reduce(own) { $1.slot == nil ? $0 &+ $1.now(chain - 1) : $0 }
  }

  /// It needed another for its product.
  package func add(need: CostCard) {
    guard need !== self, !needs.contains(where: { $0 === need }) else { return }
    if needs.count == Self.mostNeeds { needs.removeFirst() }
    needs.append(need)
    need.dependents.removeAll { $0.card == nil }
    if need.dependents.count < Self.mostDependents { need.dependents.append(Dependent(card: self)) }
  }

  /// There is a product, and it took so long by itself; the slots of what got cheaper by that.
  package func becameReady(_ own: UInt64, in slot: Slot) -> [Slot] {
    self.own = own
    self.slot = slot
    return affected(Self.longestChain)
  }

  /// The product has gone; the slots of what got dearer by that.
  package func wentAway() -> [Slot] {
    slot = nil
    return affected(Self.longestChain)
  }

  private func affected(_ chain: Int) -> [Slot] {
    guard chain > 0 else { return [] }
    return dependents.flatMap { dependent -> [Slot] in
      guard let card = dependent.card else { return [] }
      // What is not ready passes it on to those that need it.
      return card.slot.map { [$0] } ?? card.affected(chain - 1)
    }
  }
}

extension MemChunk {
  /// What generating it now would take, in nanoseconds. Under the lock.
  final var costNow: UInt64 { books.card?.now ?? books.cost }
}

extension PoolCore {
  /// Somebody asks for chunks in the middle of generating another, which needs them so. A hit does not come here, and is not
  /// looked for: then what is needed was ready, and the first miss inside the same generation tells.
  func noteNeeds(of request: Request) {
    guard let outer = request.context.generating.last, outer.core === self, ledger.weighsCosts else { return }
    let card = costCard(of: outer)
    for chunk in request.chunks { card.add(need: costCard(of: chunk)) }
  }

  private func costCard(of chunk: MemChunk) -> CostCard {
    if let card = chunk.books.card { return card }
    let lane = ChunkWord.currentLane(chunk.word.load(ordering: .relaxed))
    let isThere = chunk.isReady && chunk.books[lane] >= 0
    let card = CostCard(own: chunk.books.cost, slot: isThere ? Slot(Int(chunk.books[lane])) : nil)
    chunk.books.card = card
    return card
  }

  /// A product is there, and took so long by itself.
  func noteCost(of chunk: MemChunk, _ own: UInt64, in slot: Slot) {
    chunk.books.cost = own
    if let card = chunk.books.card { renewKeys(of: card.becameReady(own, in: slot)) }
  }

  /// The product of a slot has gone.
  func noteGone(_ chunk: MemChunk, from slot: Slot) {
    guard let card = chunk.books.card, card.slot == slot else { return }
    renewKeys(of: card.wentAway())
  }

  private func renewKeys(of slots: [Slot]) {
    for slot in slots { ledger.renewKey(of: slot, table) }
  }

  /// Subtracts from the time of a generation what others took inside it, and tells the next outer one of the whole.
  func ownTime(of total: UInt64, _ record: UnsafeMutablePointer<mc_activity>) -> UInt64 {
    var outer = record.pointee.outer
    while let current = outer {
      if current.pointee.kind == Activity.generating.rawValue, current.pointee.pool == record.pointee.pool {
        current.pointee.nested &+= total
        break
      }
      outer = current.pointee.outer
    }
    return total - min(total, record.pointee.nested)
  }
}
