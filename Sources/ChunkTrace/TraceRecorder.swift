public import MemChunks

/// Writes down every request of a pool, hits too, for replaying them later.
///
///     let recorder = try TraceRecorder(of: pool, to: "session.trace")
///     ...
///     try recorder.close()
///
/// A hit takes about 8 nanoseconds longer while a recorder is attached, with all that follows: it puts the chunk's number
/// into a bounded ring of its thread's, which is emptied at every miss and when it is full. Where a ring is full while
/// another thread has the pool's lock, hits are dropped; how many is in the file. Written are blocks of 64 KB, by whichever
/// thread filled one, and never under the pool's lock. What a process that is killed leaves behind can be read but for the
/// last block.
///
/// What a thread asks for while it generates a chunk is recorded as what the chunk needs. What `generate()` has other threads
/// ask for is not known to be, nor is what `size` asks for before room is made.
///
/// A pool has one recorder at most; a new one takes the place of the last. May be used from any thread.
public final class TraceRecorder: RequestSink, @unchecked Sendable {
  private let pool: ChunkPool
  private let file: String
  /// Guards what is noted; taken under the pool's lock, and held for a few steps.
  private let noting = Lock()
  private var notes = TraceFormat.emptyBlock
  /// The block that was written last, to be filled again: a new one for each costs more than what is written into it.
  private var spare = TraceFormat.emptyBlock
  private var lastTime: UInt64
  private var named: Set<UInt32> = []
  private var peaks: [UInt32: Int] = [:]
  /// Guards the file, so that blocks are written in the order in which they were noted. Never taken inside `noting`.
  private let writing = Lock()
  private var descriptor: OutputFile?
  /// What was written, where it is kept in memory instead of a file.
  private var kept: [UInt8]?
  private var failure: TraceError?

  private static let blockSize = 1 << 16

  /// Attaches a recorder to a pool, which it keeps, and begins a file.
  ///
  /// - Parameter path: is replaced if it exists.
  /// - Throws: `TraceError.cannotWrite`.
  public init(of pool: ChunkPool, to path: String) throws(TraceError) {
    self.pool = pool
    file = path
    lastTime = 0
    let descriptor = try OutputFile(path)
    try descriptor.write(TraceFormat.magic + [UInt8(TraceFormat.version)])
    self.descriptor = descriptor
    pool.setRequestSink(self)
  }

  /// Attaches a recorder that keeps everything in memory, for `finish()`. For short recordings: a million requests are some
  /// megabytes.
  package init(of pool: ChunkPool) {
    self.pool = pool
    file = "recording"
    lastTime = 0
    kept = TraceFormat.magic + [UInt8(TraceFormat.version)]
    pool.setRequestSink(self)
  }

  /// Detaches a recorder that keeps everything in memory; what it recorded, as a file would have it.
  package func finish() -> [UInt8] {
    pool.removeRequestSink(self)
    flush()
    return writing.withLock {
      defer { kept = nil }
      return (kept ?? []) + TraceFormat.endMark
    }
  }

  /// Detaches the recorder and ends the file. A second call does nothing.
  ///
  /// - Throws: `TraceError.cannotWrite`, also of what could not be written before.
  public func close() throws(TraceError) {
    pool.removeRequestSink(self)
    flush()
    try writing.withLock { () throws(TraceError) in
      defer { descriptor = nil }
      if let failure { throw failure }
      try descriptor?.write(TraceFormat.endMark)
    }
  }

  /// Runs work that plans by the budget what it asks for, and notes what it would generate with other budgets.
  ///
  ///     try recorder.planned {
  ///       try renderInBands(of: plan)
  ///       return budgets.map { BudgetPlan(budget: $0, ...) }
  ///     }
  ///
  /// Requests recorded meanwhile, by any thread, are not replayed: the plans that `body` gives back stand for them. They are
  /// if it throws or gives back none.
  ///
  /// - Parameter body: Gives back a plan for each budget at which the numbers change, 10 000 at most.
  /// - Throws: What `body` throws.
  public func planned(_ body: () throws -> [BudgetPlan]) rethrows {
    note { begin(.planned, 0) }
    var plans: [BudgetPlan] = []
    defer {
      note {
        begin(.plans, UInt64(plans.count))
        for plan in plans {
          for number in [plan.budget, plan.generations, plan.generatedBytes] {
            TraceFormat.append(UInt64(number), to: &notes)
          }
          TraceFormat.append(plan.nanoseconds, to: &notes)
        }
      }
    }
    plans = try body()
    precondition(plans.count <= 10_000, "a block of the file has no place for so many plans")
  }

  /// Takes down something that has a time and that the pool knows nothing of, behind all hits until now.
  private func note(_ body: () -> Void) {
    pool.withRequestSink(self) { nanoseconds in
      noting.withLock {
        body()
        append(time: nanoseconds)
      }
    }
  }

  // MARK: RequestSink

  package func note(_ event: RequestEvent, at nanoseconds: UInt64) -> Bool {
    noting.withLock {
      switch event {
      case .named(let number, let label, let group): name(number, label, group)
      case .hit(let number): begin(.hit, UInt64(number))
      case .generated(let number, let size, let cost, let isPrefetch):
        begin(isPrefetch ? .prefetched : .generated, UInt64(number))
        TraceFormat.append(UInt64(size), to: &notes)
        TraceFormat.append(cost, to: &notes)
        append(time: nanoseconds)
      case .inside(let number): begin(.inside, UInt64(number))
      case .failed(let number):
        begin(.failed, UInt64(number))
        append(time: nanoseconds)
      case .peak(let number, let bytes):
        guard peaks.updateValue(bytes, forKey: number) != bytes else { break }
        begin(.peak, UInt64(number))
        TraceFormat.append(UInt64(bytes), to: &notes)
      case .ready(let number, let size, let cost):
        begin(.ready, UInt64(number))
        TraceFormat.append(UInt64(size), to: &notes)
        TraceFormat.append(cost, to: &notes)
      case .freed(let number, let reason):
        begin(.freed, UInt64(number))
        TraceFormat.append(UInt64(FreeReason.allCases.firstIndex(of: reason)!), to: &notes)
        append(time: nanoseconds)
      case .time: begin(.time, microseconds(until: nanoseconds))
      case .dropped(let hits): begin(.dropped, UInt64(hits))
      case .pinned(let number):
        begin(.pinned, UInt64(number))
        append(time: nanoseconds)
      case .unpinned(let number):
        begin(.unpinned, UInt64(number))
        append(time: nanoseconds)
      case .keepLimit(let bytes, let level):
        begin(.keepLimit, UInt64(max(0, bytes)))
        TraceFormat.append(UInt64(level.rawValue), to: &notes)
        append(time: nanoseconds)
      case .budget(let bytes):
        begin(.budget, UInt64(max(0, bytes)))
        append(time: nanoseconds)
      }
      return notes.count >= Self.blockSize
    }
  }

  package func note(hits: UnsafeBufferPointer<UInt32>, at nanoseconds: UInt64) -> Bool {
    noting.withLock {
      begin(.time, microseconds(until: nanoseconds))
      // Into bare memory first: appending byte by byte takes four times as long, and this is most of what a hit costs.
      // A hit takes 5 bytes at most, and a token's event 6 and a time of 0: numbers have 30 bits.
      withUnsafeTemporaryAllocation(byteCount: 12 * hits.count, alignment: 8) { bytes in
        var count = 0
        func put(_ number: UInt64) {
          var rest = number
          while rest >= 0x80 {
            bytes[count] = UInt8(truncatingIfNeeded: rest) | 0x80
            rest >>= 7
            count += 1
          }
          bytes[count] = UInt8(rest)
          count += 1
        }
        for hit in hits {
          let number = UInt64(hit & HitNote.number)
          if hit & HitNote.unpinned == 0 { put(number << 3 | TraceFormat.Kind.hit.rawValue) }
          if hit & ~HitNote.number != 0 {
            let kind: TraceFormat.Other = hit & HitNote.pinned != 0 ? .pinned : .unpinned
            put(Self.other(kind, number) << 3 | TraceFormat.Kind.other.rawValue)
            put(0)
          }
        }
        notes.append(contentsOf: bytes[..<count])
      }
      return notes.count >= Self.blockSize
    }
  }

  package func flush() {
    writing.withLock {
      var block: [UInt8] = []
      noting.withLock {
        swap(&block, &spare)
        swap(&block, &notes)
      }
      defer {
        block.removeSubrange(TraceFormat.headSize...)
        noting.withLock { spare = block }
      }
      guard block.count > TraceFormat.headSize else { return }
      TraceFormat.close(&block)
      if kept != nil {
        kept! += block
      } else if failure == nil, let descriptor {
        do throws(TraceError) {
          try descriptor.write(block)
        } catch {
          // Told at the end: recording must not get in the way of what is recorded.
          failure = error
        }
      }
    }
  }

  private func begin(_ kind: TraceFormat.Other, _ subject: UInt64) {
    begin(.other, Self.other(kind, subject))
  }

  private static func other(_ kind: TraceFormat.Other, _ subject: UInt64) -> UInt64 {
    subject << UInt64(TraceFormat.Other.bitCount) | kind.rawValue
  }

  private func begin(_ kind: TraceFormat.Kind, _ subject: UInt64) {
    TraceFormat.append(subject << 3 | kind.rawValue, to: &notes)
  }

  private func name(_ number: UInt32, _ label: String, _ group: String) {
    guard named.insert(number).inserted, !label.isEmpty || !group.isEmpty else { return }
    begin(.named, UInt64(number))
    // Long labels say nothing more, and a block must hold whole events.
    TraceFormat.append(String(label.prefix(200)), to: &notes)
    TraceFormat.append(String(group.prefix(200)), to: &notes)
  }

  private func append(time: UInt64) { TraceFormat.append(microseconds(until: time), to: &notes) }

  /// Since the last event that has a time.
  private func microseconds(until time: UInt64) -> UInt64 {
    let passed = lastTime == 0 || time < lastTime ? 0 : (time - lastTime) / 1_000
    lastTime = lastTime == 0 || time < lastTime ? time : lastTime + passed * 1_000
    return passed
  }
}
