import CMemChunks
import MemChunks

#if canImport(Darwin)
  import Darwin  // Not run here.
#elseif canImport(Android)
  import Android  // Not run here.
#elseif canImport(Musl)
  import Musl  // Not run here.
#else
  import Glibc
#endif

/// The one thread that waits for files and times, for all sources and all pools of the process. It is there while there is
/// something to watch.
///
/// A watch rests after each look for twenty times as long as the look took, so that no storm of events costs more than
/// 1/21 of a processor. What comes meanwhile is not lost: the file stays ready.
final class Poller: @unchecked Sendable {
  static let shared: Poller = {
    // A child has the state, but not the thread: nobody else may hold the lock there.
    Lock.aroundFork({ Poller.shared.lock.lock() }, { Poller.shared.lock.unlock() })
    mc_watch_forks()
    return Poller()
  }()

  /// Something to be watched.
  final class Watch: Sendable {
    fileprivate let descriptor: Descriptor?
    fileprivate let events: Int16
    fileprivate let look: @Sendable (_ isReady: Bool) -> Duration?

    /// - Parameters:
    ///   - descriptor: A file to wait for; kept open while it is watched.
    ///   - events: What of it to wait for, as `poll` names it.
    ///   - look: Called on the thread when the file is ready, and when it is time; says after how long it wants to be called
    ///     at the latest, nil for never.
    init(
      _ descriptor: Descriptor? = nil, events: Int = 0, look: @escaping @Sendable (_ isReady: Bool) -> Duration?
    ) {
      self.descriptor = descriptor
      self.events = Int16(events)
      self.look = look
    }
  }

  private struct Entry {
    var watch: Watch
    /// Nanoseconds; nil for never.
    var due: UInt64?
    var restsUntil: UInt64 = 0

    /// When `poll` must return for its sake.
    func wakeTime(_ now: UInt64) -> UInt64? {
      guard watch.descriptor != nil, restsUntil > now else { return due }
      return min(restsUntil, due ?? .max)
    }
  }

  /// The least rest after a look, in nanoseconds: to wake a thread costs more than the look itself may have taken.
  private static let leastRest: UInt64 = 2_000_000

  private let lock = Lock()
  // Guarded by the lock.
  private var entries: [Entry] = []
  private var isRunning = false
  private var forks: UInt32 = 0
  /// Written to by whoever changes the entries. Nil where the process has no more files to open; then the thread looks at
  /// the entries once a second.
  private var bell: (ring: Descriptor, heard: Descriptor)?

  /// Begins to watch; the first look comes after `delay`, or when the file is ready. False where no thread is to be had.
  func add(_ watch: Watch, lookAfter delay: Duration?) -> Bool {
    lock.withLock {
      if forks != mc_fork_count() {
        // What the parent watches is the parent's.
        (entries, isRunning, bell, forks) = ([], false, nil, mc_fork_count())
      }
      entries.append(Entry(watch: watch, due: delay.map { mc_monotonic_nanoseconds() &+ $0.nanoseconds }))
      if isRunning {
        ring()
      } else {
        bell = Self.makeBell()
        isRunning = mc_start_thread({ _ in Poller.shared.run() }, nil)
        if !isRunning { (entries, bell) = ([], nil) }
      }
      return isRunning
    }
  }

  /// Stops watching. A look that is under way ends by itself; none begins after this. Never waits.
  func remove(_ watch: Watch) {
    lock.withLock {
      entries.removeAll { $0.watch === watch }
      ring()
    }
  }

  /// Has the next look of a watch come after `delay` at the latest.
  func hasten(_ watch: Watch, lookAfter delay: Duration) {
    lock.withLock {
      guard let index = entries.firstIndex(where: { $0.watch === watch }) else { return }
      entries[index].due = min(entries[index].due ?? .max, mc_monotonic_nanoseconds() &+ delay.nanoseconds)
      ring()
    }
  }

  private func ring() { _ = bell?.ring.write([0]) }

  private static func makeBell() -> (Descriptor, Descriptor)? {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0, let heard = Descriptor(owning: ends[0]), let ring = Descriptor(owning: ends[1])
    else { return nil }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    return (ring, heard)
  }

  private func run() {
    // A handler of the program's should run on a thread of the program's.
    var signals = sigset_t()
    sigfillset(&signals)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    while let (round, heard) = nextRound() { wait(for: round, heard) }
  }

  /// What to wait for; nil, and the thread ends, when there is nothing.
  private func nextRound() -> (entries: [Entry], heard: Descriptor?)? {
    lock.withLock {
      if entries.isEmpty {
        (isRunning, bell) = (false, nil)
        return nil
      }
      return (entries, bell?.heard)
    }
  }

  private func wait(for round: [Entry], _ heard: Descriptor?) {
    let start = mc_monotonic_nanoseconds()
    var files = round.map { entry -> pollfd in
      // A negative number is passed over.
      let number = entry.restsUntil > start ? -1 : entry.watch.descriptor?.number ?? -1
      return pollfd(fd: number, events: entry.watch.events, revents: 0)
    }
    files.append(pollfd(fd: heard?.number ?? -1, events: Int16(POLLIN), revents: 0))
    var wake = round.compactMap { $0.wakeTime(start) }.min()
    if heard == nil { wake = min(wake ?? .max, start &+ 1_000_000_000) }
    let milliseconds = wake.map { $0 <= start ? 0 : min(($0 - start + 999_999) / 1_000_000, 1 << 30) }
    guard poll(&files, nfds_t(files.count), milliseconds.map { Int32($0) } ?? -1) >= 0 else { return }

    if files[round.count].revents != 0 { heard?.drain() }
    let now = mc_monotonic_nanoseconds()
    for (entry, file) in zip(round, files) {
      let isReady = file.revents & entry.watch.events != 0
      if !isReady, file.revents != 0 {
        // The file has gone bad, and would be so for ever: its group was removed, its writer has closed it.
        remove(entry.watch)
      } else if isReady || entry.due.map({ $0 <= now }) == true {
        look(entry.watch, isReady)
      }
    }
  }

  private func look(_ watch: Watch, _ isReady: Bool) {
    guard lock.withLock({ entries.contains { $0.watch === watch } }) else { return }
    let start = mc_monotonic_nanoseconds()
    let next = watch.look(isReady)
    let end = mc_monotonic_nanoseconds()
    lock.withLock {
      guard let index = entries.firstIndex(where: { $0.watch === watch }) else { return }
      entries[index].due = next.map { end &+ $0.nanoseconds }
      entries[index].restsUntil = end &+ max(20 &* (end &- start), Self.leastRest)
    }
  }
}
