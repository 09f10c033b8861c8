let rounds = CommandLine.arguments.contains("--quick") ? 3 : 9
if CommandLine.arguments.contains("--waiting") {
  benchmarkWaiting(rounds: rounds)
} else if CommandLine.arguments.contains("--listening") {
  benchmarkWatchedHits(rounds: rounds)
} else if CommandLine.arguments.contains("--traces") {
  benchmarkReplays(rounds: rounds)
  benchmarkWatchedHits(rounds: rounds)
} else {
  benchmarkMemory()
  benchmarkHits(rounds: rounds)
  benchmarkTwoThreads(rounds: rounds)
  benchmarkMisses(rounds: rounds)
  benchmarkMixed(rounds: rounds)
  benchmarkRefusals(rounds: rounds)
  benchmarkWaiting(rounds: rounds)
  benchmarkReplays(rounds: rounds)
  benchmarkWatchedHits(rounds: rounds)
}
