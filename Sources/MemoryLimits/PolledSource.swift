import MemChunks

/// What a polled source looks at. Used by the polling thread alone once it is watched.
protocol Probe: AnyObject {
  /// What is looked at, for people.
  var place: String { get }
  /// A file to wait for, if any, and what of it, as `poll` names it.
  var descriptor: Descriptor? { get }
  var events: Int { get }

  /// Looks now: what there is to say, and when to look again at the latest.
  func look(isReady: Bool) -> (signal: PressureSignal?, next: Duration?)
}

/// A source that the polling thread drives.
final class PolledSource: PressureSource, @unchecked Sendable {
  let name: String
  private let open: @Sendable () throws(PressureSourceError) -> any Probe
  private let lock = Lock()
  // Guarded by the lock.
  private var watch: Poller.Watch?

  /// - Parameter open: Opens what is needed, or says why that cannot be.
  init(_ name: String, open: @escaping @Sendable () throws(PressureSourceError) -> any Probe) {
    self.name = name
    self.open = open
  }

  func start(_ report: @escaping @Sendable (PressureSignal) -> Void) throws(PressureSourceError) -> String {
    let probe = try open()
    let place = probe.place
    // Nobody but the polling thread touches it from here.
    nonisolated(unsafe) let watched = probe
    let watch = Poller.Watch(probe.descriptor, events: probe.events) { isReady in
      let (signal, next) = watched.look(isReady: isReady)
      if let signal { report(signal) }
      return next
    }
    lock.withLock { self.watch = watch }
    // The first look is at once: the program may have been started when memory was short already.
    guard Poller.shared.add(watch, lookAfter: .zero) else {
      lock.withLock { self.watch = nil }
      throw PressureSourceError("no thread can be started to watch \(place)")
    }
    return place
  }

  func stop() {
    var watch: Poller.Watch?
    lock.withLock { swap(&watch, &self.watch) }
    if let watch { Poller.shared.remove(watch) }
  }
}
