import ChunkLedger
import ChunkLedgerModel
import Testing

/// Long random sequences against the plain models. A failure names the seed and the step.
@Suite struct ModelTests {
  @Test("ledger and model agree on victims, states and totals after every step", arguments: UInt64(1)...8)
  func leastRecentlyUsed(seed: UInt64) {
    var driver = LedgerDriver(seed: seed, order: LeastRecentlyUsed())
    let disagreement = driver.run(to: 15_000)
    let step = driver.stepsDone()
    #expect(disagreement == nil, "seed \(seed), step \(step): \(disagreement ?? "")")
    checkVariety(driver.tallies(), "seed \(seed)")
  }

  @Test("the same under an order that is not by recency", arguments: UInt64(101)...104)
  func largestFirst(seed: UInt64) {
    var driver = LedgerDriver(seed: seed, order: LargestFirst())
    let disagreement = driver.run(to: 12_000)
    let step = driver.stepsDone()
    #expect(disagreement == nil, "seed \(seed), step \(step): \(disagreement ?? "")")
    checkVariety(driver.tallies(), "seed \(seed)")
  }

  @Test("the page map and a board with every page agree", arguments: UInt64(201)...206)
  func pageMap(seed: UInt64) {
    var driver = ArenaDriver(seed: seed)
    let disagreement = driver.run(to: 10_000)
    let step = driver.stepsDone()
    #expect(disagreement == nil, "seed \(seed), step \(step): \(disagreement ?? "")")
  }

  @Test("the entry for bare runners does the same")
  func entry() {
    #expect(ledgerModelRun(1, 4_000) == 0)
  }

  /// Agreement proves little where nothing happened.
  private func checkVariety(_ tally: ModelTally, _ seed: String) {
    #expect(tally.victims > 100, "\(seed)")
    #expect(tally.refusals > tally.refusalsWithoutLook, "\(seed)")
    #expect(tally.refusalsWithoutLook > 50, "\(seed)")
    #expect(tally.takenBack > 10, "\(seed)")
    #expect(tally.tooLarge > 5, "\(seed)")
    #expect(tally.notPlaced > 5, "\(seed)")
    #expect(tally.lateFrees > 5, "\(seed)")
    #expect(tally.extensions > 5, "\(seed)")
    #expect(tally.placedInArena > 100, "\(seed)")
    #expect(tally.pagesGivenBack > 100, "\(seed)")
    #expect(tally.surplusVictims > 10, "\(seed)")
    #expect(tally.stepsAboveBudget > 10, "\(seed)")
  }
}
