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
  enum Kind {
    /// A work that is admitted. It has its thread set aside for it.
    case work
    /// Anything else for those who wait.
    case use
    case prefetch
  }

  let kind: Kind
  let run: @Sendable () -> Void

  init(_ kind: Kind, _ run: @escaping @Sendable () -> Void) {
    self.kind = kind
    self.run = run
  }
}

/// The pool's threads: made when there is work, as many as there are processors, gone when there is none for a while.
/// Guarded by the pool's lock.
///
/// A thread that sleeps in what it generates does not count as one at work, so another is made, but there are never more
/// than `most`. So that nothing waits for a thread that is not to be had, each job has a *seat*, and there are as many
/// seats as threads at most: a work takes its seat when room is promised to it, any other job when it begins, and without
/// a free seat neither happens. Prefetches have half of the seats at most: they keep them while they wait for their turn to
/// generate, and whoever is in use must not need a seat of theirs to come before them.
///
/// Nothing hangs on that limit. A work that waits for a thread has a seat, so not all seats belong to busy threads, so a
/// thread is idle, or may be made. And what has no seat yet, a task's request or a prefetch, has been promised nothing
/// and holds nothing: whoever sleeps on a seat waits for a generation that has a thread, or for room that such generations,
/// scopes and frees give back. All of those end without the one that has no seat.
struct WorkerBook {
  static let processors = max(2, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
  /// Threads and seats.
  static let most = max(64, 2 * processors)

  /// How long an idle thread stays, in nanoseconds.
  var patience: UInt64 = 2_000_000_000

  private var works = Fifo<Job>()
  private var uses = Fifo<Job>()
  private var prefetches = Fifo<Job>()
  fileprivate var idle: [Parker] = []
  fileprivate(set) var count = 0
  fileprivate var asleep = 0
  private var seated = 0
  /// How many of the seated are prefetches.
  private var prefetching = 0

  var hasFreeSeat: Bool { seated < Self.most }
  private var mayPrefetch: Bool { prefetching < Self.most / 2 }

  /// Whether there is something that a thread could do now.
  var hasJobs: Bool { !works.isEmpty || hasFreeSeat && !(uses.isEmpty && (prefetches.isEmpty || !mayPrefetch)) }

  /// Whether every idle thread is there, and idle once, and no more are there than may be.
  var isConsistent: Bool {
    idle.count <= count && Set(idle.map { ObjectIdentifier($0) }).count == idle.count && count <= Self.most
      && works.count + prefetching <= seated && seated <= Self.most
  }

  /// A work is admitted, and has a thread for itself.
  mutating func takeSeat() { seated += 1 }

  /// A job is done.
  mutating func leaveSeat(_ kind: Job.Kind) {
    seated -= 1
    if kind == .prefetch { prefetching -= 1 }
  }

  mutating func add(_ job: Job) {
    switch job.kind {
    case .work: works.append(job)
    case .use: uses.append(job)
    case .prefetch: prefetches.append(job)
    }
  }

  /// Something that no thread has begun, whether there is a seat for it or not.
  fileprivate mutating func takeUnbegun() -> Job? { works.popFirst() ?? uses.popFirst() ?? prefetches.popFirst() }

  /// What is admitted goes first, then what is in use, then what may be.
  mutating func next() -> Job? {
    if let job = works.popFirst() { return job }
    guard hasFreeSeat, let job = uses.popFirst() ?? (mayPrefetch ? prefetches.popFirst() : nil) else { return nil }
    takeSeat()
    if job.kind == .prefetch { prefetching += 1 }
    return job
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
      after.wakes.append {
        job.run()
        self.locked { self.leaveSeat(job.kind, &$0) }
      }
    }
  }

  /// A job is done: what waited for its seat may go on. Under the lock.
  private func leaveSeat(_ kind: Job.Kind, _ after: inout Aftermath) {
    let wasFull = !workers.hasFreeSeat
    workers.leaveSeat(kind)
    if wasFull { serve(&after) }
  }

  @discardableResult
  private func startWorkerIfNeeded() -> Bool {
    guard workers.hasJobs, workers.count - workers.asleep < WorkerBook.processors, workers.count < WorkerBook.most
    else { return false }
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
          locked { self.leaveSeat(job.kind, &$0) }
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

  /// The pool is closed: idle threads end, and those at work when they are done. What waits for one of those ends here, with
  /// nothing made: they may be busy for long.
  func dismissWorkers(_ after: inout Aftermath) {
    while let job = workers.takeUnbegun() {
      after.wakes.append {
        job.run()
        // The others have no seat yet.
        if job.kind == .work { self.locked { self.leaveSeat(job.kind, &$0) } }
      }
    }
    for parker in workers.idle { parker.wake() }
    workers.idle = []
  }
}
