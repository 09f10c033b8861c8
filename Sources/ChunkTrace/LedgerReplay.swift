import ChunkLedger
import MemChunks

/// A pool's own ledger, without a pool. What an object needs and is not ready adds to its cost, as it does in a pool.
struct LedgerReplay<Order: EvictOrder>: Replayer {
  private let shadow: ShadowCache<Order>
  private let objects: [Trace.Object]
  /// Nil where nothing needs anything.
  private let costs: NeedCosts?

  init(_ trace: Trace, budget: Int, order: Order) {
    let shadow = ShadowCache(budget: budget, order: order, capacity: trace.capacity)
    self.shadow = shadow
    objects = trace.objects
    guard objects.contains(where: { !$0.needs.isEmpty }) else {
      costs = nil
      return
    }
    let costs = NeedCosts(objects)
    self.costs = costs
    // The shadow goes with this replay, and the closures with it.
    shadow.setCosts { costs.now(of: Self.object($0)) }
    shadow.onFree = { [unowned shadow] number in
      for object in costs.wentAway(Self.object(number)) { shadow.renewKey(of: Self.number(object)) }
    }
  }

  // Number 0 is none.
  private static func number(_ object: Int32) -> UInt32 { UInt32(object) + 1 }
  private static func object(_ number: UInt32) -> Int32 { Int32(number - 1) }

  mutating func begin(_ object: Int32, inside outer: Int32) -> ReplayStep {
    let (known, number) = (objects[Int(object)], Self.number(object))
    // A pool learns of a need by a miss.
    if let costs, outer >= 0, !shadow.isReady(number) { costs.add(need: object, of: outer) }
    return shadow.begin(number, reserving: known.peak, cost: known.cost)
  }

  mutating func end(_ object: Int32) {
    if let costs {
      for dependent in costs.becameReady(object) { shadow.renewKey(of: Self.number(dependent)) }
    }
    shadow.end(Self.number(object), size: objects[Int(object)].size)
  }
}

/// What generating objects now would take, by a pool's own rules; the slots of its cards are objects here.
private final class NeedCosts {
  private let objects: [Trace.Object]
  private var cards: [CostCard?]

  init(_ objects: [Trace.Object]) {
    self.objects = objects
    cards = Array(repeating: nil, count: objects.count)
  }

  func now(of object: Int32) -> UInt64 { cards[Int(object)]?.now ?? objects[Int(object)].cost }

  /// Neither is ready: one is missing, and the other is being generated.
  func add(need: Int32, of outer: Int32) { card(outer).add(need: card(need)) }

  /// The objects that got cheaper.
  func becameReady(_ object: Int32) -> [Int32] {
    changed(cards[Int(object)]?.becameReady(objects[Int(object)].cost, in: Slot(Int(object))))
  }

  /// The objects that got dearer.
  func wentAway(_ object: Int32) -> [Int32] {
    changed(cards[Int(object)]?.wentAway())
  }

  private func changed(_ slots: [Slot]?) -> [Int32] { slots?.map { Int32($0.index) } ?? [] }

  private func card(_ object: Int32) -> CostCard {
    if let card = cards[Int(object)] { return card }
    let card = CostCard(own: objects[Int(object)].cost, slot: nil)
    cards[Int(object)] = card
    return card
  }
}
