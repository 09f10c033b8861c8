// Darwin and Musl are not run here.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A door at which threads wait until somebody opens it; it then stays open. Counts who has come to it.
public final class Gate: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var isOpen = false
  private var arrived = 0

  /// Makes a closed gate.
  public init() {
    mutex = .allocate(capacity: 1)
    condition = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    condition.initialize(to: pthread_cond_t())
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Opens the gate for everybody, now and later.
  public func open() {
    pthread_mutex_lock(mutex)
    isOpen = true
    pthread_cond_broadcast(condition)
    pthread_mutex_unlock(mutex)
  }

  /// Whether it has been opened.
  public var isOpened: Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return isOpen
  }

  /// Waits until the gate is open.
  public func wait() {
    pthread_mutex_lock(mutex)
    arrived += 1
    pthread_cond_broadcast(condition)
    while !isOpen { pthread_cond_wait(condition, mutex) }
    pthread_mutex_unlock(mutex)
  }

  /// Waits until so many have come to the gate, open or not.
  public func waitForArrivals(_ count: Int = 1) {
    pthread_mutex_lock(mutex)
    while arrived < count { pthread_cond_wait(condition, mutex) }
    pthread_mutex_unlock(mutex)
  }
}

/// Runs a check over and over on a thread of its own until it is stopped: for what must hold at every instant.
public final class Sampler: Sendable {
  private let isStopped = Locked(false)
  private let count = Locked(0)
  private let thread: TestThread

  /// Starts sampling; returns when the first sample was taken.
  public init(_ sample: @escaping @Sendable () -> Void) {
    let isStopped = isStopped, count = count
    let first = Gate()
    thread = TestThread {
      repeat {
        sample()
        count.withLock { $0 += 1 }
        first.open()
        // Yielding alone would let it take a pool's lock again before those get a turn who wait for it.
        usleep(50)
      } while !isStopped.current
    }
    first.wait()
  }

  /// Ends the sampling; returns how many samples were taken.
  @discardableResult
  public func stop() -> Int {
    isStopped.set(true)
    thread.join()
    return count.current
  }
}
