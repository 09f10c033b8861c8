public import MemChunks

/// Sources of pressure, and the pools that answer to them.
///
///     pool.respond(to: .system)
///
/// The highest level of any source counts. It rises at once and falls when no source has said more for two seconds. Sources
/// are started when the monitor is made and stopped when its last reference goes; a pool that responds keeps one.
public final class PressureMonitor: Sendable {
  /// A source, and whether it works here.
  public struct Status: Sendable, Equatable {
    /// The source's name.
    public var name: String
    /// Whether it reports.
    public var isLive: Bool
    /// What it watches, or why it does not.
    public var detail: String
  }

  /// How each source fared when it was started, in order.
  public let status: [Status]
  let board: PressureBoard
  private let live: [any PressureSource]

  /// Starts sources. One that does not work here is no error; `status` says why.
  public convenience init(_ sources: [any PressureSource]) {
    self.init(sources, calm: .seconds(2), time: nil)
  }

  /// The same with a clock of the caller's, in nanoseconds, for tests; then only `settle()` moves time on.
  package init(_ sources: [any PressureSource], calm: Duration, time: (@Sendable () -> UInt64)?) {
    let board = PressureBoard(sources: sources.count, calm: calm, time: time)
    var (status, live) = ([Status](), [any PressureSource]())
    for (index, source) in sources.enumerated() {
      do {
        let detail = try source.start { [weak board] in board?.take($0, from: index) }
        status.append(Status(name: source.name, isLive: true, detail: detail))
        live.append(source)
      } catch {
        status.append(Status(name: source.name, isLive: false, detail: error.description))
      }
    }
    (self.board, self.status, self.live) = (board, status, live)
  }

  deinit {
    for source in live { source.stop() }
    board.close()
  }

  /// The monitor of all sources that the system may have, one for all pools: made when it is first asked for, and again
  /// after nobody had it any more.
  public static var system: PressureMonitor {
    shared.lock.withLock {
      if let monitor = shared.monitor { return monitor }
      let monitor = PressureMonitor(SystemSources.all())
      shared.monitor = monitor
      return monitor
    }
  }

  /// Guarded by its lock.
  private final class Shared: @unchecked Sendable {
    let lock = Lock()
    weak var monitor: PressureMonitor?
  }
  private static let shared = Shared()

  /// How short memory is now.
  public var level: PressureLevel { board.level }

  /// Looks whether a level has ended; for tests with a clock of their own.
  package func settle() { board.settle() }
}

extension ChunkPool {
  /// Reports the monitor's level to the pool, now and whenever it changes, until the pool closes.
  ///
  /// Reports come on the thread on which the source learns of it: for the system's files the one thread that watches them,
  /// so that a blocked main thread hinders nothing; `free()` runs there. A pool may respond to several monitors, and is then
  /// told by each; one for all sources is better.
  public func respond(to monitor: PressureMonitor) {
    let link = MonitorLink(self.link, monitor)
    accompany(by: link)
    monitor.board.add(link)
  }
}

/// A pool that answers to a monitor. Kept by both: by the pool for the monitor's sake, and by the board to be told.
final class MonitorLink: PoolCompanion {
  let pool: PoolLink
  private let monitor: PressureMonitor

  init(_ pool: PoolLink, _ monitor: PressureMonitor) {
    (self.pool, self.monitor) = (pool, monitor)
  }

  func poolHasClosed() { monitor.board.remove(self) }
}
