#if canImport(Darwin)
  import Darwin  // Not run here.
#elseif canImport(Android)
  import Android  // Not run here.
#elseif canImport(Musl)
  import Musl  // Not run here.
#else
  import Glibc
#endif

/// The one kind of lock of the package, over a POSIX mutex.
///
/// Not `Synchronization.Mutex`: the thread sanitizer does not know it on Linux and reports races that
/// are none. Not recursive: nothing that runs user code, not even a release that could be the last,
/// may happen while it is held.
package struct Lock: ~Copyable, @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>

  package init() {
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    let failure = pthread_mutex_init(mutex, nil)
    precondition(failure == 0, "pthread_mutex_init failed with \(failure)")
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Has every fork() of the process call one function before, and another after, in parent and child.
  package static func aroundFork(_ before: @convention(c) () -> Void, _ after: @convention(c) () -> Void) {
    pthread_atfork(before, after, after)
  }

  package func lock() { pthread_mutex_lock(mutex) }
  func tryLock() -> Bool { pthread_mutex_trylock(mutex) == 0 }
  package func unlock() { pthread_mutex_unlock(mutex) }

  package func withLock<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    lock()
    defer { unlock() }
    return try body()
  }
}

/// A place where one thread sleeps until another wakes it. A wake that comes first is not lost.
final class Parker: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var isWoken = false

  init() {
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

  func wake() {
    pthread_mutex_lock(mutex)
    isWoken = true
    pthread_cond_signal(condition)
    pthread_mutex_unlock(mutex)
  }

  /// Sleeps until woken, or until so many nanoseconds have passed: then it returns false.
  func sleep(atMost nanoseconds: UInt64?) -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    defer { isWoken = false }
    guard let nanoseconds else {
      while !isWoken { pthread_cond_wait(condition, mutex) }
      return true
    }
    // The condition waits on the wall clock, the one clock every platform offers here; a step of that
    // clock can only make one deadline early or late, never the order of chunks.
    var limit = timespec()
    clock_gettime(CLOCK_REALTIME, &limit)
    let total = UInt64(limit.tv_nsec) + nanoseconds % 1_000_000_000
    limit.tv_sec += Int(nanoseconds / 1_000_000_000) + Int(total / 1_000_000_000)
    limit.tv_nsec = Int(total % 1_000_000_000)
    while !isWoken {
      if pthread_cond_timedwait(condition, mutex, &limit) != 0 { return isWoken }
    }
    return true
  }
}
