let rounds = CommandLine.arguments.contains("--quick") ? 3 : 9
benchmarkMemory()
benchmarkHits(rounds: rounds)
benchmarkTwoThreads(rounds: rounds)
benchmarkMisses(rounds: rounds)
benchmarkMixed(rounds: rounds)
benchmarkRefusals(rounds: rounds)
