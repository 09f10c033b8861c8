// Darwin and Musl are not run here.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A thread that decodes: decoding waits for other threads, which must not be done on those of Swift's tasks.
package final class WorkerThread {
  private final class Body {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  private let handle: pthread_t

  /// Starts a thread; nil when the system has none to give.
  package init?(_ body: @escaping @Sendable () -> Void) {
    let context = Unmanaged.passRetained(Body(body))
    #if canImport(Darwin)
      typealias Argument = UnsafeMutableRawPointer
      var handle: pthread_t?
    #else
      typealias Argument = UnsafeMutableRawPointer?
      var handle = pthread_t()
    #endif
    let start: @convention(c) (Argument) -> UnsafeMutableRawPointer? = { argument in
      let pointer: UnsafeMutableRawPointer? = argument
      Unmanaged<Body>.fromOpaque(pointer!).takeRetainedValue().run()
      return nil
    }
    guard pthread_create(&handle, nil, start, context.toOpaque()) == 0 else {
      context.release()
      return nil
    }
    #if canImport(Darwin)
      self.handle = handle!
    #else
      self.handle = handle
    #endif
  }

  /// Waits until the thread has ended; to be called once.
  package func join() {
    pthread_join(handle, nil)
  }
}
