import Glibc
import MemChunks
import MemoryLimits

private func entries(of directory: String) -> Int {
  guard let stream = opendir(directory) else { return 0 }
  defer { closedir(stream) }
  var count = 0
  while readdir(stream) != nil { count += 1 }
  return count
}

/// The system's real sources, started and stopped 1 000 times. True when threads and open files are then as many as before:
/// this program has none of its own.
func countCycles() -> Bool {
  let path = "/tmp/memchunk-cycles-\(getpid())"
  guard mkfifo(path, 0o600) == 0 else { return false }
  defer { unlink(path) }
  setenv("MEMORY_PRESSURE_WATCH", path, 1)
  func cycle() -> [String] {
    let pool = ChunkPool(budget: .share(0.1))
    let monitor = PressureMonitor.system
    pool.respond(to: monitor)
    return monitor.status.filter(\.isLive).map(\.name)
  }
  // The runtime keeps a thing or two from the first time.
  let live = cycle()
  let before = (threads: entries(of: "/proc/self/task"), files: entries(of: "/proc/self/fd"))
  for _ in 0..<1_000 { _ = cycle() }
  var after = before
  // A thread is gone a moment after it was told to end.
  for _ in 0..<200 {
    after = (entries(of: "/proc/self/task"), entries(of: "/proc/self/fd"))
    if after == before { break }
    usleep(10_000)
  }
  print("live: \(live); entries in task and fd before \(before), after 1 000 cycles \(after)")
  return after == before
}
