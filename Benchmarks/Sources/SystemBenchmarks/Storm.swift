import Glibc
import MemChunks
import MemoryLimits

/// Processor seconds of this process, all threads together.
func processorSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Sends so many signals a second for a while; returns what share of a processor that took, the sender's own part
/// included.
private func share(_ seconds: Double, perSecond: Int, _ send: () -> Void) -> Double {
  let clock = ContinuousClock()
  let begin = clock.now, used = processorSeconds()
  var sent = 0
  while clock.now - begin < .seconds(seconds) {
    let due = Int((clock.now - begin) / .seconds(1) * Double(perSecond))
    while sent < due {
      send()
      sent += 1
    }
    usleep(500)
  }
  return (processorSeconds() - used) / seconds
}

/// 1 000 signals a second reach a pool that can free nothing, by hand and through a file. True when each takes less than a
/// twentieth of a processor beyond what sending takes.
func measureStorm() throws -> Bool {
  let idle = share(3, perSecond: 1_000) {}
  print("the sender alone: \(percent(idle))")

  let held = ChunkPool(budget: .megabytes(64))
  let chunks = (0..<1_000).map { _ in HeapChunk(in: held, 16 << 10) }
  for chunk in chunks { try chunk.ensureReady() }
  let pins = try held.pin(chunks)
  let source = ManualPressureSource()
  held.respond(to: PressureMonitor([source]))
  let useless = share(5, perSecond: 1_000) { source.send(.critical) }
  print("by hand, all 1 000 chunks in use: \(percent(useless))")

  // A FIFO as systemd names one; the polling thread reads it.
  let path = "/tmp/memchunk-storm-\(getpid())"
  guard mkfifo(path, 0o600) == 0 else { return false }
  defer { unlink(path) }
  setenv("MEMORY_PRESSURE_WATCH", path, 1)
  let monitor = PressureMonitor.system
  held.respond(to: monitor)
  let writer = open(path, O_WRONLY | O_NONBLOCK)
  defer { close(writer) }
  let answered = share(5, perSecond: 1_000) { _ = write(writer, "!", 1) }
  print("through a FIFO, level \(monitor.level): \(percent(answered))")
  pins.unpin()
  withExtendedLifetime(chunks) {}
  return max(useless, answered) - idle < 0.05
}

private func percent(_ share: Double) -> String {
  let tenths = Int((share * 1_000).rounded())
  return "\(tenths / 10).\(tenths % 10) % of a processor"
}
