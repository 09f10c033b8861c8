/// Follows whichever of three orders is cheapest on the requests as they come: least recently used, `CostAware`, or
/// `DecayingUse`.
///
/// Each has a shadow, a ledger without chunks at the present budget that serves the same requests by that order alone. What
/// their misses would have cost is summed up, a request of a thousand requests ago counting for about a third. The order
/// changes when another shadow's sum is a hundredth below that of the one followed.
///
/// Shadows know neither pins nor frames nor groups' limits. They tell `capacity` chunks apart, and take about 400 bytes for
/// each of them at most: 12 MB.
package struct Adaptive: EvictOrder {
  private enum Choice: Int { case recency, costAware, decaying }

  /// How many chunks shadows tell apart: of two whose numbers are further apart, the older is forgotten.
  package static var capacity: Int { 1 << 15 }
  /// How far below the sum of the order that is followed another must be, at least: a switch throws away what the old order
  /// has built up.
  private static var leastMargin: Double { 0.01 }
  /// What a request later leaves of a cost in the sums.
  private static var fading: Double { 0.999 }

  // Classes, because a ledger cannot be copied. An order is never used from two threads at once: its ledger is not either.
  private final class Shadows: @unchecked Sendable {
    let recency = ShadowCache(budget: 0, order: LeastRecentlyUsed(), capacity: capacity)
    let costAware = ShadowCache(budget: 0, order: CostAware(), capacity: capacity)
    let decaying = ShadowCache(budget: 0, order: DecayingUse(capacity: capacity), capacity: capacity)
  }

  private let shadows = Shadows()
  /// The age of the cost-aware shadow when a chunk was last used: with it, the pool's keys mean the same before and after it
  /// followed another order.
  private var ages = NumberTable(capacity: capacity, none: 0.0)
  private var decaying = DecayingUse(capacity: capacity)
  private var costs = (recency: 0.0, costAware: 0.0, decaying: 0.0)
  private var choice = Choice.costAware
  /// Twice as wide after a switch, so that orders that are equally good do not take turns; fades like the sums.
  private var margin = leastMargin
  private var hasNewKeys = false

  package init() {}

  package func key(for use: ChunkUse, size: Int) -> UInt64 {
    switch choice {
    case .recency: use.stamp
    case .costAware: CostAware.key(for: use, size: size, age: ages[use.number])
    case .decaying: decaying.key(for: use, size: size)
    }
  }

  package mutating func chose(key: UInt64) {}
  package var followsRecency: Bool { choice == .recency }
  package var sparesExcess: Bool { choice != .recency }
  package var wantsRequests: Bool { true }

  package mutating func note(_ request: OrderedRequest) {
    decaying.note(request)
    if decaying.takeKeyChange(), choice == .decaying { hasNewKeys = true }
    let cost = Double(max(1, request.cost))
    func missCost(_ shadow: ShadowCache<some EvictOrder>) -> Double {
      shadow.setBudget(request.budget)
      return shadow.use(request.number, size: request.size, cost: request.cost) ? 0 : cost
    }
    costs.recency = costs.recency * Self.fading + missCost(shadows.recency)
    costs.costAware = costs.costAware * Self.fading + missCost(shadows.costAware)
    costs.decaying = costs.decaying * Self.fading + missCost(shadows.decaying)
    ages[request.number] = shadows.costAware.order.age
    margin = max(Self.leastMargin, margin * Self.fading)
    choose()
  }

  private mutating func choose() {
    var best = choice
    for other in [Choice.recency, .costAware, .decaying] where cost(of: other) < cost(of: best) { best = other }
    guard cost(of: best) < cost(of: choice) * (1 - margin) else { return }
    choice = best
    margin = min(2 * margin, 0.5)
    hasNewKeys = true
  }

  private func cost(of choice: Choice) -> Double {
    switch choice {
    case .recency: costs.recency
    case .costAware: costs.costAware
    case .decaying: costs.decaying
    }
  }

  package mutating func takeKeyChange() -> Bool {
    defer { hasNewKeys = false }
    return hasNewKeys
  }
}
