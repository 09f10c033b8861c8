import MemChunks
import MemoryLimits
import TestSupport
import Testing

/// Cases 27 to 36 as a source reports them.
@Suite("Pools that respond to a monitor")
struct PressureMonitorTests {
  private let clock = ManualClock()
  private let source = ManualPressureSource()

  private func monitor() -> PressureMonitor {
    PressureMonitor([source], calm: .seconds(2), time: clock.read)
  }

  private func pool() throws -> (pool: ChunkPool, chunks: [TrackedChunk]) {
    let pool = ChunkPool(budget: .bytes(100), time: clock.read)
    let chunks = (0..<10).map { TrackedChunk(in: pool, label: "\($0)", size: 10) }
    for chunk in chunks { try chunk.ensureReady() }
    return (pool, chunks)
  }

  @Test("Case 27: normal frees nothing, a warning half, critical everything")
  func levels() throws {
    let (pool, chunks) = try pool()
    pool.respond(to: monitor())
    source.send(.normal)
    #expect(pool.statistics.ready == 100)
    source.send(.warning)
    #expect(pool.statistics.ready == 50)
    source.send(.critical)
    #expect(pool.statistics.ready == 0)
    withExtendedLifetime(chunks) {}
  }

  @Test("Case 28: the keep limit stays down while the level lasts, and recovers by steps")
  func recovery() throws {
    let (pool, chunks) = try pool()
    let monitor = monitor()
    pool.respond(to: monitor)
    source.send(.critical, lasting: .seconds(5))
    clock.advance(by: .seconds(6))
    monitor.settle()
    #expect(pool.pressure == .critical && pool.statistics.keepLimit == 0)
    clock.advance(by: .seconds(1))
    monitor.settle()
    #expect(pool.pressure == .normal && pool.statistics.keepLimit == 0)
    clock.advance(by: .seconds(4))
    for chunk in chunks { try chunk.ensureReady() }
    #expect(pool.statistics.keepLimit == 50)
    clock.advance(by: .seconds(4))
    for chunk in chunks { try chunk.ensureReady() }
    #expect(pool.statistics.keepLimit == 100)
    withExtendedLifetime(chunks) {}
  }

  @Test("Case 33: the handler works while the main thread is blocked, and a dropped pool leaves nothing behind")
  @MainActor
  func blocked() throws {
    let (pool, chunks) = try pool()
    let monitor = monitor()
    pool.respond(to: monitor)
    let thread = TestThread { [source] in source.send(.critical) }
    // The main thread does nothing else meanwhile.
    thread.join()
    #expect(pool.statistics.ready == 0)
    withExtendedLifetime(chunks) {}
  }

  @Test("Case 33: the pool keeps its monitor, and both go together")
  func dropped() throws {
    var pool: ChunkPool? = ChunkPool(budget: .bytes(100))
    var monitor: PressureMonitor? = monitor()
    weak let goneMonitor = monitor
    pool!.respond(to: monitor!)
    monitor = nil
    #expect(goneMonitor != nil)
    source.send(.warning)
    #expect(pool!.pressure == .warning)
    weak let gone = pool
    pool = nil
    #expect(gone == nil && goneMonitor == nil)
    // Stopped: it reaches nobody.
    source.send(.critical)
  }

  @Test("Case 34: sending returns after free() has run, and keeps a part if so configured")
  func background() throws {
    let (pool, chunks) = try pool()
    pool.keepShares = KeepShares(warning: 0.3)
    pool.respond(to: monitor())
    source.send(.warning)
    #expect(chunks.map(\.frees) == Array(repeating: 1, count: 7) + Array(repeating: 0, count: 3))
  }

  @Test("A pool that comes later hears the level, one that is gone hears nothing, several hear the same")
  func several() throws {
    let monitor = monitor()
    source.send(.warning)
    let (first, firstChunks) = try pool(), (second, secondChunks) = try pool()
    first.respond(to: monitor)
    #expect(first.pressure == .warning && first.statistics.ready == 50)
    second.respond(to: monitor)
    source.send(.critical)
    #expect(first.statistics.ready == 0 && second.statistics.ready == 0)
    withExtendedLifetime((firstChunks, secondChunks)) {}
  }

  @Test("What is told last holds, whatever order the threads come in")
  func threads() throws {
    let sources = (0..<4).map { ManualPressureSource(name: "\($0)") }
    let monitor = PressureMonitor(sources, calm: .zero, time: clock.read)
    let (pool, chunks) = try pool()
    pool.respond(to: monitor)
    onThreads(4) { number in
      for step in 0..<500 {
        sources[number].send(PressureLevel.allCases[(step + number) % 3])
        pool.report(pool.pressure)
      }
      sources[number].send(number == 2 ? .warning : .normal)
    }
    sources[0].send(.normal)
    #expect(monitor.level == .warning)
    monitor.settle()
    sources[2].send(.warning)
    #expect(pool.pressure == .warning)
    withExtendedLifetime(chunks) {}
  }

  @Test("A source that does not work here is reported with its reason")
  func unavailable() throws {
    final class Absent: PressureSource {
      let name = "absent"
      func start(_ report: @escaping @Sendable (PressureSignal) -> Void) throws(PressureSourceError) -> String {
        throw PressureSourceError("/nowhere: no such file")
      }
      func stop() { Issue.record("it was never started") }
    }
    let monitor = PressureMonitor([Absent(), source])
    #expect(monitor.status.map(\.name) == ["absent", "manual"])
    #expect(monitor.status.map(\.isLive) == [false, true])
    #expect(monitor.status.map(\.detail) == ["/nowhere: no such file", "what the program says"])
  }
}
