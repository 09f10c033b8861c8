import ChunkLedger

/// Runs the ledger and its page map against their models; callable from C, so that a bare WebAssembly runner can do it.
///
/// The first half of the steps is the ledger in its default order, the next quarter the ledger in an order that is not by
/// recency, the last the page map.
///
/// - Parameters:
///   - seed: the same seed does the same things everywhere.
///   - steps: how many.
/// - Returns: 0 when all agreed, else the number of the step that did not, from 1.
@c(ledger_model_run)
public func ledgerModelRun(_ seed: Int32, _ steps: Int32) -> Int32 {
  let seed = UInt64(UInt32(bitPattern: seed))
  let half = Int(steps) / 2
  let quarter = (Int(steps) - half) / 2
  var recency = LedgerDriver(seed: seed, order: LeastRecentlyUsed())
  guard recency.run(to: half) == nil else { return Int32(recency.stepsDone()) }
  var size = LedgerDriver(seed: seed, order: LargestFirst())
  guard size.run(to: quarter) == nil else { return Int32(half + size.stepsDone()) }
  var arena = ArenaDriver(seed: seed)
  let rest = Int(steps) - half - quarter
  guard arena.run(to: rest) == nil else { return Int32(half + quarter + arena.stepsDone()) }
  return 0
}
