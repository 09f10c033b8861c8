import ChunkTrace
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// What policies save, as a pool makes room: on public traces, at three budgets, with four models of what generating costs,
/// three seeds for each.
@Suite(.enabled(if: SharedTraces.images != nil && SharedTraces.blocks != nil, "the public traces are not there"))
struct RegenerationCostTests {
  /// How much of the regeneration cost of exact LRU is left, over all cells.
  struct Shares {
    var mean: Double
    var worst: Double
  }

  private static let models: [@Sendable (Trace.Object, inout SeededGenerator) -> Double] = [
    { _, _ in 1 },
    { object, random in (0.3 + 8 * Double(object.size) / 1_048_576) * exp(0.4 * normal(&random)) },
    { _, random in 5 * exp(1.5 * normal(&random)) },
    { _, random in Double.random(in: 0..<1, using: &random) < 0.1 ? 100 : 1 },
  ]

  private static func normal(_ random: inout SeededGenerator) -> Double {
    let radius = sqrt(-2 * log(1 - Double.random(in: 0..<1, using: &random)))
    return radius * cos(2 * Double.pi * Double.random(in: 0..<1, using: &random))
  }

  /// Each cell: a trace with costs, and a budget.
  static let cells: [(trace: Trace, budget: Int)] = {
    var cells: [(Trace, Int)] = []
    for trace in [SharedTraces.images, SharedTraces.blocks].compactMap({ $0 }) {
      for model in models {
        for seed in UInt64(1)...3 {
          var random = SeededGenerator(seed: seed)
          let costed = trace.withCosts { UInt64(1e6 * model($0, &random)) }
          for percent in [1, 10, 30] { cells.append((costed, trace.footprint * percent / 100)) }
        }
      }
    }
    return cells
  }()

  private static let lru = cells.map { Double($0.trace.replay(.lru, budget: $0.budget).missedCost) }

  static func shares(_ cost: (Trace, Int) -> UInt64) -> Shares {
    let shares = zip(cells, lru).map { cell, lru in Double(cost(cell.trace, cell.budget)) / lru }
    return Shares(mean: exp(shares.reduce(0) { $0 + log($1) } / Double(shares.count)), worst: shares.max() ?? 0)
  }

  static func shares(_ policy: ReplayPolicy) -> Shares { shares { $0.replay(policy, budget: $1).missedCost } }

  @Test func costAwareSavesMoreThanAFifth() {
    let shares = Self.shares(.costAware)
    #expect(shares.mean <= 0.772, "\(shares)")
    #expect(shares.mean < Self.shares(.gdsf).mean, "\(shares)")
  }

  @Test func adaptiveIsNowhereWorseThanLeastRecentlyUsed() {
    let shares = Self.shares(.adaptive)
    #expect(shares.mean <= 0.80, "\(shares)")
    #expect(shares.worst <= 1.01, "\(shares)")
  }

  @Test func foresightAndTheBoundAreBelow() {
    let (bound, offline) = (Self.shares { $0.leastMissedCost(budget: $1) }, Self.shares(.offline))
    let adaptive = Self.shares(.adaptive)
    #expect(bound.mean <= offline.mean && offline.mean <= adaptive.mean, "\(bound) \(offline) \(adaptive)")
    print("regeneration cost beside LRU, mean and worst cell:")
    for policy in ReplayPolicy.allCases { print("  \(policy)", Self.shares(policy)) }
    print("  bound", bound)
  }
}
