#if canImport(Darwin)
  // Not run here.
  import Dispatch
  import MemChunks

  extension SystemSources {
    static var appleSources: [any PressureSource] {
      #if canImport(UIKit) && !os(watchOS)
        [DispatchPressureSource(), AppPressureSource()]
      #else
        [DispatchPressureSource()]
      #endif
    }
  }

  /// The system's memory pressure as Dispatch tells it, on a queue of its own: the main thread may be blocked.
  final class DispatchPressureSource: PressureSource, @unchecked Sendable {
    let name = "dispatch"
    private let lock = Lock()
    // Guarded by the lock.
    private var source: (any DispatchSourceMemoryPressure)?

    func start(_ report: @escaping @Sendable (PressureSignal) -> Void) throws(PressureSourceError) -> String {
      let queue = DispatchQueue(label: "memchunk.pressure")
      let source = DispatchSource.makeMemoryPressureSource(eventMask: .all, queue: queue)
      // Kept weakly: the source keeps its handler.
      source.setEventHandler { [weak source] in
        guard let event = source?.data else { return }
        report(PressureSignal(event.contains(.critical) ? .critical : event.contains(.warning) ? .warning : .normal))
      }
      source.activate()
      lock.withLock { self.source = source }
      return "the system's memory pressure"
    }

    func stop() {
      let source = lock.withLock { self.source }
      source?.cancel()
    }
  }
#endif

#if canImport(UIKit) && !os(watchOS)
  // Not run here.
  import UIKit

  /// What an app is told: a warning is critical for ten seconds, and being in the background is a warning until it ends.
  ///
  /// The observers run on the main thread, inside the notification: entering the background returns after `free()` has run.
  final class AppPressureSource: PressureSource, @unchecked Sendable {
    let name = "uikit"
    private let lock = Lock()
    // Guarded by the lock.
    private var observers: [any NSObjectProtocol] = []

    func start(_ report: @escaping @Sendable (PressureSignal) -> Void) throws(PressureSourceError) -> String {
      let answers: [(Notification.Name, PressureSignal)] = [
        (UIApplication.didReceiveMemoryWarningNotification, PressureSignal(.critical, lasting: .seconds(10))),
        (UIApplication.didEnterBackgroundNotification, PressureSignal(.warning)),
        (UIApplication.willEnterForegroundNotification, PressureSignal(.normal)),
      ]
      let observers = answers.map { name, signal in
        NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in report(signal) }
      }
      lock.withLock { self.observers = observers }
      return "memory warnings and the background"
    }

    func stop() {
      for observer in lock.withLock({ observers }) { NotificationCenter.default.removeObserver(observer) }
    }
  }
#endif
