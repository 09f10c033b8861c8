import CMemChunks

#if canImport(Darwin)
  import Darwin  // Not run here.
#elseif canImport(Android)
  import Android  // Not run here.
#elseif canImport(Musl)
  import Musl  // Not run here.
#else
  import Glibc
#endif

/// Something for the pool's own threads.
struct Job {
  enum Priority { case use, prefetch }

  let priority: Priority
  let run: @Sendable () -> Void

  init(priority: Priority, _ run: @escaping @Sendable () -> Void) {
    self.priority = priority
    self.run = run
  }
}

/// The pool's threads: made when there is work, as many as there are processors, gone when there is none for a while.
/// Guarded by the pool's lock.
///
/// A worker whose generation waits for another does not count, so there is always one that can go on.
struct WorkerBook {
  static let most = max(2, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

  /// How long an idle thread stays, in nanoseconds.
  var patience: UInt64 = 2_000_000_000

  private var uses: [Job] = []
  private var prefetches: [Job] = []
  fileprivate var idle: [Parker] = []
  fileprivate(set) var count = 0
  fileprivate var asleep = 0

  var hasJobs: Bool { !uses.isEmpty || !prefetches.isEmpty }

  /// Whether every idle thread is there, and idle once.
  var isConsistent: Bool { idle.count <= count && Set(idle.map { ObjectIdentifier($0) }).count == idle.count }

  mutating func add(_ job: Job) {
    if case .use = job.priority { uses.append(job) } else { prefetches.append(job) }
  }

  /// What is in use goes before what may be.
  mutating func next() -> Job? {
    if !uses.isEmpty { return uses.removeFirst() }
    return prefetches.isEmpty ? nil : prefetches.removeFirst()
  }
}

extension PoolCore {
  /// Gives the pool's threads something to do. Under the lock.
  func enqueue(_ job: Job, _ after: inout Aftermath) {
    workers.add(job)
    if let parker = workers.idle.popLast() {
      parker.wake()
    } else if !startWorkerIfNeeded(), workers.count == 0, let job = workers.next() {
      // No thread is to be had: better late on this one than never.
      after.wakes.append(job.run)
    }
  }

  @discardableResult
  private func startWorkerIfNeeded() -> Bool {
    guard workers.hasJobs, workers.count - workers.asleep < WorkerBook.most else { return false }
    let context = Unmanaged.passRetained(self)
    let started = mc_start_thread(
      { Unmanaged<PoolCore>.fromOpaque($0!).takeRetainedValue().work() }, context.toOpaque())
    if started { workers.count += 1 } else { context.release() }
    return started
  }

  /// The life of a worker.
  private func work() {
    Activity.run(.worker, self, nil) { _ in
      let parker = Parker()
      while true {
        lock.lock()
        let patience = workers.patience
        // Woken too late or for a job that another has taken, it may still be called idle. Called so twice, a wake would one
        // day go to a thread that is gone.
        workers.idle.removeAll { $0 === parker }
        let job = workers.next()
        if job == nil {
          if isClosed {
            workers.count -= 1
            lock.unlock()
            return
          }
          workers.idle.append(parker)
        }
        lock.unlock()
        if let job {
          job.run()
        } else if !parker.sleep(atMost: patience), leaves(parker) {
          return
        }
      }
    }
  }

  /// Nothing came for a while: the thread ends, unless something came just now.
  private func leaves(_ parker: Parker) -> Bool {
    lock.withLock {
      guard let index = workers.idle.firstIndex(where: { $0 === parker }) else { return false }
      workers.idle.remove(at: index)
      workers.count -= 1
      return true
    }
  }

  /// The calling thread is about to sleep in a request, of this pool or of another. If it is a worker, another may
  /// take its place.
  static func workerWillSleep(_ thread: Thread) {
    guard let home = employer(of: thread) else { return }
    home.lock.withLock {
      home.workers.asleep += 1
      _ = home.startWorkerIfNeeded()
    }
  }

  static func workerWoke(_ thread: Thread) {
    guard let home = employer(of: thread) else { return }
    home.lock.withLock { home.workers.asleep -= 1 }
  }

  /// The pool whose worker the calling thread is.
  private static func employer(of thread: Thread) -> PoolCore? {
    guard let record = Activity.first(of: thread, where: { $0.kind == Activity.worker.rawValue }) else { return nil }
    return Unmanaged<PoolCore>.fromOpaque(record.pointee.pool).takeUnretainedValue()
  }

  /// The pool is closed: idle threads end. Those at work end when there is nothing left to do.
  func dismissWorkers() {
    for parker in workers.idle { parker.wake() }
    workers.idle = []
  }
}
