// Darwin and Musl are not run here.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A real thread that can be joined: tests of blocking code must not occupy the threads of Swift's tasks.
public final class TestThread: @unchecked Sendable {
  private final class Body {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  private var handle = pthread_t(bitPattern: 0)
  private var isJoined = false

  /// Starts a thread.
  public init(_ body: @escaping @Sendable () -> Void) {
    let context = Unmanaged.passRetained(Body(body)).toOpaque()
    #if canImport(Darwin)
      typealias Argument = UnsafeMutableRawPointer
    #else
      typealias Argument = UnsafeMutableRawPointer?
    #endif
    let start: @convention(c) (Argument) -> UnsafeMutableRawPointer? = { argument in
      let pointer: UnsafeMutableRawPointer? = argument
      Unmanaged<Body>.fromOpaque(pointer!).takeRetainedValue().run()
      return nil
    }
    let failure = pthread_create(&handle, nil, start, context)
    precondition(failure == 0, "no thread can be started")
  }

  deinit { join() }

  /// Waits until the thread has ended.
  public func join() {
    guard !isJoined else { return }
    isJoined = true
    pthread_join(handle, nil)
  }
}

/// Runs `body` on so many threads at once, each with its number, and waits for all of them.
public func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let start = Gate()
  let threads = (0..<count).map { index in
    TestThread {
      start.wait()
      body(index)
    }
  }
  start.open()
  for thread in threads { thread.join() }
}

/// Lets other threads run until `condition` holds. False when it has not held for a long time, which is a failure of the
/// test and not a measure of speed.
public func eventually(within seconds: Int = patience, _ condition: () -> Bool) -> Bool {
  var start = timespec()
  clock_gettime(CLOCK_MONOTONIC, &start)
  var now = start
  while now.tv_sec - start.tv_sec < seconds {
    if condition() { return true }
    usleep(50)
    clock_gettime(CLOCK_MONOTONIC, &now)
  }
  return condition()
}

/// The calling thread, as a name that tells it from the others that live.
public func currentThread() -> UInt {
  #if canImport(Darwin)
    UInt(bitPattern: pthread_self())
  #else
    UInt(pthread_self())
  #endif
}
