import ChunkTrace
import Testing

/// Miss ratios that libCacheSim 0.3.5 finds on public traces, to four digits.
@Suite struct GoldenReplayTests {
  struct Golden: CustomTestStringConvertible {
    var budget: Int
    var policy: ReplayPolicy
    var missRatio: Double
    var byteMissRatio: Double?
    var testDescription: String { "\(policy) in \(budget) bytes" }
  }

  private static func row(_ budget: Int, _ ratios: [(Double, Double?)]) -> [Golden] {
    zip([ReplayPolicy.lru, .sieve, .gdsf], ratios).map {
      Golden(budget: budget, policy: $0, missRatio: $1.0, byteMissRatio: $1.1)
    }
  }

  private func check(_ golden: Golden, _ trace: Trace) {
    let result = trace.replay(golden.policy, budget: golden.budget, mode: .libCacheSim)
    #expect(rounded(result.missRatio) == golden.missRatio)
    if let ratio = golden.byteMissRatio { #expect(rounded(result.byteMissRatio) == ratio) }
  }

  private func rounded(_ ratio: Double) -> Double { (ratio * 10_000).rounded() / 10_000 }

  @Test(
    .enabled(if: SharedTraces.images != nil, "the public traces are not there"),
    arguments: row(546_014, [(0.4644, 0.8613), (0.4371, 0.8531), (0.3556, 0.8442)])
      + row(5_460_142, [(0.2836, 0.7004), (0.2372, 0.6798), (0.1515, 0.6720)])
      + row(16_380_428, [(0.1763, 0.4075), (0.1774, 0.4770), (0.0905, 0.4333)]))
  func imagesOfAWebSite(golden: Golden) throws {
    check(golden, try #require(SharedTraces.images))
  }

  @Test(
    .enabled(if: SharedTraces.blocks != nil, "the public traces are not there"),
    arguments: row(9_380_946, [(0.6027, 0.7235), (0.6027, 0.7235), (0.6144, 0.7441)])
      + row(93_809_465, [(0.4775, 0.5949), (0.4808, 0.6095), (0.4691, 0.6099)]))
  func blocksOfMegabytes(golden: Golden) throws {
    check(golden, try #require(SharedTraces.blocks))
  }

  @Test(
    .enabled(if: SharedTraces.units != nil, "the public traces, or xz, are not there"),
    arguments: row(4_392, [(0.7402, nil), (0.8239, nil), (0.7526, nil)]))
  func blocksOfOneSize(golden: Golden) throws {
    check(golden, try #require(SharedTraces.units))
  }
}
