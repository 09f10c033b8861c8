// Waits until the system says that memory is short, and tells how: which of its sources work here, and the level.
//
//   Watcher [SECONDS]       (scripts/pressure-test has it told by the kernel and as a service)
//
// Ends with 0 when it was told and 3 when not; without a number it looks once and ends with 0.

import MemChunks
import MemoryLimits

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

let seconds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) }
let pool = ChunkPool(budget: .share(0.25, atMost: .megabytes(8)))
pool.respond(to: .system)
for source in PressureMonitor.system.status {
  print("\(source.name): \(source.isLive ? "live" : "not live") (\(source.detail))")
}
// Whoever reads this from a file or a pipe wants it now.
fflush(nil)
let clock = ContinuousClock()
let start = clock.now
while pool.pressure == .normal, clock.now - start < .seconds(seconds ?? 0) { usleep(20_000) }
print("level: \(pool.pressure) after \(clock.now - start)")
exit(seconds == nil || pool.pressure != .normal ? 0 : 3)
