// Darwin and Musl are not run here.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A lock, and a place where its holders wait for what others do under it.
///
/// POSIX's own, as in the core: the thread sanitizer does not know `Synchronization.Mutex` on Linux.
final class Monitor: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  /// How many wait; changed under the lock.
  private var sleepers = 0

  init() {
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

  func lock() { pthread_mutex_lock(mutex) }
  func unlock() { pthread_mutex_unlock(mutex) }

  func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
    lock()
    defer { unlock() }
    return try body()
  }

  /// Lets others have the lock until somebody has called `wakeAll()`, or for no reason. The caller holds the lock.
  func wait() {
    sleepers += 1
    pthread_cond_wait(condition, mutex)
    sleepers -= 1
  }

  /// Wakes all who wait. The caller holds the lock.
  func wakeAll() {
    if sleepers > 0 { pthread_cond_broadcast(condition) }
  }
}
