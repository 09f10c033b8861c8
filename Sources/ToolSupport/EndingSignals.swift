// Darwin and Musl are not run here.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The signals that ask a program to end: SIGINT, SIGTERM and SIGHUP.
public enum EndingSignals {
  /// Has a thread of its own wait for them: it calls `cleanUp`, and then the process ends by the signal that came.
  ///
  /// Call it before the program makes threads. The signals are blocked in every thread, and so no code is interrupted:
  /// a handler might not even take a lock, this thread may. The process ends as if the signal had not been taken, because
  /// a shell goes on with its script after a program that merely exits.
  public static func take(_ cleanUp: @escaping @Sendable () -> Void) {
    // What the parent ignores stays ignored, as `nohup` wants it.
    // A file that grows beyond its limit is an error where it is written.
    signal(SIGXFSZ, SIG_IGN)
    let taken = [SIGINT, SIGTERM, SIGHUP].filter { !isIgnored($0) }
    var signals = sigset_t()
    sigemptyset(&signals)
    for signal in taken { sigaddset(&signals, signal) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    Waiter(signals: signals, cleanUp: cleanUp).start()
  }

  private static func isIgnored(_ signal: Int32) -> Bool {
    var action = sigaction()
    sigaction(signal, nil, &action)
    #if canImport(Darwin)
      let handler = action.__sigaction_u.__sa_handler
    #else
      let handler = action.__sigaction_handler.sa_handler
    #endif
    return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  private final class Waiter: Sendable {
    private let signals: sigset_t
    private let cleanUp: @Sendable () -> Void

    init(signals: sigset_t, cleanUp: @escaping @Sendable () -> Void) {
      self.signals = signals
      self.cleanUp = cleanUp
    }

    /// Without this thread the signals would wait for ever, so they are let through again if there is none.
    func start() {
      #if canImport(Darwin)
        var thread: pthread_t?
      #else
        var thread = pthread_t()
      #endif
      let waiter = Unmanaged.passRetained(self)
      let code = pthread_create(
        &thread, nil,
        { waiter in
          #if canImport(Darwin)
            Unmanaged<Waiter>.fromOpaque(waiter).takeRetainedValue().wait()
          #else
            Unmanaged<Waiter>.fromOpaque(waiter!).takeRetainedValue().wait()
          #endif
        }, waiter.toOpaque())
      if code != 0 {
        waiter.release()
        var signals = signals
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      }
    }

    private func wait() -> Never {
      var (signals, taken) = (signals, Int32(0))
      while sigwait(&signals, &taken) != 0 {}
      cleanUp()
      signal(taken, SIG_DFL)
      pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      raise(taken)
      // Not reached on any system known; the code is what shells say of a program that a signal ended.
      exit(128 + taken)
    }
  }
}
