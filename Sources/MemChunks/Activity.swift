import CMemChunks

/// What a thread is doing inside pools, innermost first: frees, generations, asking for sizes, telling others, and being a
/// worker.
///
/// The records lie on the thread's own stack, so that entering costs nothing to speak of, and only the thread itself
/// reads them.
enum Activity: Int32 {
  case generating = 1
  case freeing = 2
  case worker = 3
  /// Running what others want to be told or rid of - observers, wake-ups, last releases - in the middle of something.
  case telling = 4
  /// Asking a chunk for its size.
  case measuring = 5

  /// Runs `body` as an activity of this thread.
  static func run<R>(
    _ kind: Activity, _ core: PoolCore, _ chunk: MemChunk?, _ body: (UnsafeMutablePointer<mc_activity>) throws -> R
  ) rethrows -> R {
    let thread = mc_thread_current()!
    var record = mc_activity()
    record.kind = kind.rawValue
    record.pool = UnsafeRawPointer(Unmanaged.passUnretained(core).toOpaque())
    record.chunk = chunk.map { Unmanaged.passUnretained($0).toOpaque() }
    record.outer = thread.pointee.activity
    return try withUnsafeMutablePointer(to: &record) { pointer in
      thread.pointee.activity = pointer
      defer { thread.pointee.activity = pointer.pointee.outer }
      return try body(pointer)
    }
  }

  /// Walks outward from the innermost.
  static func first(
    of thread: Thread, where matches: (borrowing mc_activity) -> Bool
  ) -> UnsafeMutablePointer<mc_activity>? {
    var record = thread.pointee.activity
    while let current = record {
      if matches(current.pointee) { return current }
      record = current.pointee.outer
    }
    return nil
  }

  static func isInside(_ kind: Activity, _ thread: Thread) -> Bool {
    first(of: thread) { $0.kind == kind.rawValue } != nil
  }

  /// Whether the calling thread runs the chunk's own `size` or `workingPeak` for a request.
  static func isMeasuring(_ chunk: MemChunk, _ thread: Thread) -> Bool {
    let pointer = Unmanaged.passUnretained(chunk).toOpaque()
    return first(of: thread) { $0.kind == measuring.rawValue && $0.chunk == pointer } != nil
  }

  /// How many activities the calling thread is in the middle of.
  static func depth(of thread: Thread) -> UInt32 {
    var depth: UInt32 = 0
    var record = thread.pointee.activity
    while let current = record {
      depth += 1
      record = current.pointee.outer
    }
    return depth
  }

  /// The chunks that this thread is generating, or doing something else of these kinds with, outermost first.
  static func chunks(_ kinds: [Activity], _ thread: Thread) -> [MemChunk] {
    var chunks: [MemChunk] = []
    var record = thread.pointee.activity
    while let current = record {
      if kinds.contains(where: { $0.rawValue == current.pointee.kind }), let chunk = current.pointee.chunk {
        chunks.append(Unmanaged<MemChunk>.fromOpaque(chunk).takeUnretainedValue())
      }
      record = current.pointee.outer
    }
    return chunks.reversed()
  }

  /// The labels on the ring that asking `chunk` for its size would close, because the thread is in the middle of doing so.
  static func ring(measuring chunk: MemChunk, _ thread: Thread) -> [String]? {
    let address = Unmanaged.passUnretained(chunk).toOpaque()
    guard first(of: thread, where: { $0.kind == measuring.rawValue && $0.chunk == address }) != nil else { return nil }
    let chain = chunks([.generating, .measuring], thread)
    return chain[chain.lastIndex { $0 === chunk }!...].map(\.label) + [chunk.label]
  }

  /// The other pools in which this thread is doing something.
  static func pools(of thread: Thread, besides core: PoolCore) -> [PoolCore] {
    var pools: [PoolCore] = []
    var record = thread.pointee.activity
    while let current = record {
      let pool = Unmanaged<PoolCore>.fromOpaque(current.pointee.pool).takeUnretainedValue()
      if pool !== core, !pools.contains(where: { $0 === pool }) { pools.append(pool) }
      record = current.pointee.outer
    }
    return pools
  }
}
