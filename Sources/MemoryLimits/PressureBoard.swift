import CMemChunks
import MemChunks

/// What the sources have said, and who is to hear of it.
final class PressureBoard: @unchecked Sendable {
  private let lock = Lock()
  private let time: @Sendable () -> UInt64
  private let hasOwnTime: Bool
  // Guarded by the lock.
  private var hold: PressureHold
  private var links: [MonitorLink] = []
  /// Watches for the end of a level; there only while there is one.
  private var alarm: Poller.Watch?
  private var isClosed = false

  init(sources: Int, calm: Duration, time: (@Sendable () -> UInt64)?) {
    hold = PressureHold(sources: sources, calm: calm)
    self.time = time ?? { mc_monotonic_nanoseconds() }
    hasOwnTime = time != nil
  }

  var level: PressureLevel { lock.withLock { hold.level } }

  func take(_ signal: PressureSignal, from source: Int) {
    let level = lock.withLock { () -> PressureLevel? in
      let before = hold.level
      hold.take(signal, from: source, now: time())
      setAlarm()
      // A level that stands may be said again: the pools may have filled up since. They space their answers out.
      return hold.level != before || signal.level > .normal ? hold.level : nil
    }
    if let level { tell(level) }
  }

  func settle() {
    let level = lock.withLock { () -> PressureLevel? in
      let before = hold.level
      hold.update(now: time())
      return hold.level == before ? nil : hold.level
    }
    if let level { tell(level) }
  }

  /// Tells all pools. Without the lock, because it runs `free()`.
  ///
  /// Two threads may do this at once, and the one with the older level come last. So each looks afterwards whether it told
  /// the truth: the last of them did.
  private func tell(_ level: PressureLevel) {
    var told = level
    while true {
      for link in lock.withLock({ links }) { link.pool.report(told) }
      let now = self.level
      if now == told { return }
      told = now
    }
  }

  func add(_ link: MonitorLink) {
    let level = lock.withLock { () -> PressureLevel in
      links.append(link)
      return hold.level
    }
    if level > .normal { tell(level) }
  }

  func remove(_ link: MonitorLink) {
    // The monitor may go with the link, and closes this board.
    withExtendedLifetime(link) {
      lock.withLock { links.removeAll { $0 === link } }
    }
  }

  func close() {
    let alarm = lock.withLock { () -> Poller.Watch? in
      isClosed = true
      defer { self.alarm = nil }
      return self.alarm
    }
    if let alarm { Poller.shared.remove(alarm) }
  }

  /// Has somebody look when the level may end. Under the lock.
  private func setAlarm() {
    guard !hasOwnTime, !isClosed, alarm == nil, hold.level > .normal else { return }
    let watch = Poller.Watch { [weak self] _ in self?.ring() }
    alarm = watch
    _ = Poller.shared.add(watch, lookAfter: .milliseconds(100))
  }

  private func ring() -> Duration? {
    settle()
    return lock.withLock {
      if hold.level > .normal { return .milliseconds(250) }
      if let alarm { Poller.shared.remove(alarm) }
      alarm = nil
      return nil
    }
  }
}
