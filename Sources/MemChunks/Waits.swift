import CMemChunks

/// Which thread waits for which generation, over all pools.
///
/// A generation that somebody makes waits for what its thread waits for, if that was asked inside it. And where it asked
/// for several chunks of which other threads make some, it waits for those, though its thread may not have come to that
/// yet. What nobody has begun waits for nothing. A ring closes when a thread begins to wait, so it is enough to look then.
/// A lock of its own, taken inside the pools' locks, because a ring may lead through several pools.
enum Waits {
  private static let lock: Lock = {
    // All pools share it, also those that a child makes after fork(): there nobody would let go of it for another thread.
    Lock.aroundFork({ Waits.lock.lock() }, { Waits.lock.unlock() })
    return Lock()
  }()
  /// Generations that another thread makes than the one whose work they belong to. Few.
  private nonisolated(unsafe) static var lent: [Generation] = []

  /// Makes what `fork()` has to know of, before there is anything in a process that a child could find half made.
  static func prepare() { lock.withLock {} }

  /// Adds the edge from a thread's request to `generation`, unless that would close a ring: then the labels on it.
  static func add(_ thread: Thread, depth: UInt32, _ generation: Generation) -> [String]? {
    lock.withLock {
      var seen: [Generation] = []
      if let labels = labels(from: generation, to: thread, depth, &seen) { return labels }
      thread.pointee.waits_for = Unmanaged.passUnretained(generation).toOpaque()
      thread.pointee.waits_depth = depth
      return nil
    }
  }

  /// The labels on a way from `generation` to one that the thread makes and in which it asks; nil if there is none.
  ///
  /// A request may wait while its thread still makes something else, in code that it runs before it sleeps. That is made
  /// deeper than the request was asked, does not wait for it, and is on no ring with it.
  private static func labels(
    from generation: Generation, to thread: Thread, _ depth: UInt32, _ seen: inout [Generation]
  ) -> [String]? {
    guard let maker = generation.maker.load(ordering: .acquiring), !seen.contains(where: { $0 === generation }) else {
      return nil
    }
    if maker == thread { return depth > generation.depth ? [generation.chunk.label] : nil }
    seen.append(generation)
    var needs = lent.filter { $0.work.thread == maker && $0.work.depth > generation.depth }
    if let further = maker.pointee.waits_for, maker.pointee.waits_depth > generation.depth {
      needs.append(Unmanaged<Generation>.fromOpaque(further).takeUnretainedValue())
    }
    for need in needs {
      if let labels = labels(from: need, to: thread, depth, &seen) { return [generation.chunk.label] + labels }
    }
    return nil
  }

  static func remove(_ thread: Thread) {
    lock.withLock { thread.pointee.waits_for = nil }
  }

  /// The calling thread takes a work that had none.
  static func take(_ work: Work, _ thread: Thread) {
    let depth = Activity.depth(of: thread)
    lock.withLock {
      work.thread = thread
      work.depth = depth
    }
  }

  /// A thread begins to make a generation of its own work.
  ///
  /// Without the lock: a ring closes when the last of its threads begins to wait, which each does after it has begun, and
  /// sees then what all have begun that wait already.
  static func begin(_ generation: Generation, _ thread: Thread, depth: UInt32) {
    generation.depth = depth
    generation.maker.store(thread, ordering: .releasing)
  }

  /// A thread begins to make a generation before the thread of its work comes to it. True if that is another thread.
  static func beginAhead(_ generation: Generation, _ thread: Thread, depth: UInt32) -> Bool {
    lock.withLock {
      begin(generation, thread, depth: depth)
      guard generation.work.thread != thread else { return false }
      lent.append(generation)
      return true
    }
  }

  /// What another thread made is made, or has failed.
  static func endLent(_ generation: Generation) {
    lock.withLock { lent.removeAll { $0 === generation } }
  }

  /// Who makes a generation, or is going to: the thread of its work, until somebody has begun.
  static func maker(of generation: Generation) -> Thread? {
    lock.withLock { generation.maker.load(ordering: .acquiring) ?? generation.work.thread }
  }

  /// Whether a request of the thread that makes `generation` is asked inside it, or inside the work it belongs to.
  static func isInside(_ generation: Generation, _ request: Request) -> Bool {
    lock.withLock {
      let isBegun = generation.maker.load(ordering: .acquiring) != nil
      return request.context.depth > (isBegun ? generation.depth : generation.work.depth)
    }
  }

  static func thread(of work: Work) -> Thread? {
    lock.withLock { work.thread }
  }
}
