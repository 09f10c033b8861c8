import MemChunks
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc

  /// Swift does not offer it, because most of what a Swift program does is not allowed in the child. Here the child only
  /// uses what the parent has used before, and says with its exit code what it saw.
  @_silgen_name("fork")
  private func forkProcess() -> Int32

  /// Case 57: after fork() the child frees nothing by accident, and is told that the pool is not its own.
  @Suite("Fork", .serialized, .timeLimit(.hang))
  struct ForkTests {
    /// How a child ended.
    private enum End: Equatable {
      case exited(Int32)
      case killed(Int32)
    }

    /// Runs `body` in a child; its result is the exit code. A child that hangs is killed by an alarm.
    private static func child(_ body: () -> Int32) -> End {
      let process = forkProcess()
      precondition(process >= 0, "fork failed")
      if process == 0 {
        // The test may run on a thread that lets no signal through.
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_UNBLOCK, &all, nil)
        alarm(120)
        // A trap that is expected needs no report.
        for number in [SIGILL, SIGTRAP, SIGABRT] { signal(number, SIG_DFL) }
        _exit(body())
      }
      var status: Int32 = 0
      while waitpid(process, &status, 0) < 0, errno == EINTR {}
      return status & 0x7f == 0 ? .exited(status >> 8 & 0xff) : .killed(status & 0x7f)
    }

    /// What the child tries; each step that goes wrong sets a bit. Run in the parent first, for a pool of its own, so
    /// that nothing has to be set up by the runtime in the child.
    private static func ownPool() -> Bool {
      let pool = ChunkPool(budget: .bytes(10))
      let chunks = (0..<3).map { TrackedChunk(in: pool, label: "own \($0)", size: 6) }
      for chunk in chunks {
        guard outcome({ try chunk.withReady { precondition(chunk.isWhole) } }) == .ready else { return false }
      }
      pool.freeAll()
      return pool.used == .bytes(0) && chunks.allSatisfy { $0.frees == 1 }
    }

    @Test("Case 57: a use that misses is refused, dropping frees nothing, a pool of its own works")
    func child() throws {
      #expect(Self.ownPool())
      let box = Locked<ChunkPool?>(ChunkPool(budget: .bytes(20)))
      let ready = Locked<TrackedChunk?>(TrackedChunk(in: box.current!, label: "ready", size: 6))
      let empty = TrackedChunk(in: box.current!, label: "empty", size: 6)
      let frees = ByteTally()
      ready.current!.hooks.free = { _ in frees.add(1) }
      try ready.current!.ensureReady()
      _ = outcome { throw ChunkError.poolClosed(label: "", afterFork: true) }
      let end = Self.child {
        var wrong: Int32 = 0
        // What is ready may be read: the child has a copy of it.
        if outcome({ try ready.current!.withReady { precondition(ready.current!.isWhole) } }) != .ready { wrong |= 1 }
        if outcome({ try empty.ensureReady() }) != .closed(afterFork: true) { wrong |= 2 }
        if outcome({ try empty.withReady {} }) != .closed(afterFork: true) { wrong |= 4 }
        if empty.generations != 0 { wrong |= 8 }
        ready.current!.invalidate()
        ready.current!.discard()
        ready.set(nil)
        box.set(nil)
        if frees.bytes != 0 { wrong |= 16 }
        if !Self.ownPool() { wrong |= 32 }
        return wrong
      }
      #expect(end == .exited(0))
      // The parent's pool is as it was.
      let chunk = try #require(ready.current)
      #expect(chunk.isReady && chunk.isWhole && frees.bytes == 0)
      box.current!.freeAll()
      #expect(frees.bytes == 1)
      #expect(box.current!.used == .bytes(0))
    }

    @Test("Case 57: another program can be started while a pool is in use")
    func otherProgram() throws {
      let pool = ChunkPool(budget: .bytes(1 << 20))
      let buffer = BufferChunk(in: pool, label: "buffer", size: 9_000) {
        $0.storeBytes(of: 7, toByteOffset: 8_999, as: UInt8.self)
      }
      let inside = Gate(), started = Gate()
      let other = TrackedChunk(in: pool, label: "other", size: 6)
      other.hooks.generate = { _ in
        inside.wait()
        started.wait()
      }
      let thread = TestThread { _ = outcome { try other.ensureReady() } }
      inside.open()
      started.waitForArrivals()
      // Something is being generated, something is in use.
      try buffer.withBytes { bytes in
        var words: [UnsafeMutablePointer<CChar>?] = [strdup("sh"), strdup("-c"), strdup("exit 3"), nil]
        defer { words.forEach { Glibc.free($0) } }
        var process: pid_t = 0
        try #require(posix_spawn(&process, "/bin/sh", nil, nil, &words, environ) == 0)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        #expect(status == 3 << 8)
        #expect(bytes.unsafeLoad(fromByteOffset: 8_999, as: UInt8.self) == 7)
      }
      started.open()
      thread.join()
      #expect(other.isReady && other.isWhole)
      pool.freeAll()
      #expect(pool.used == .bytes(0))
    }

    @Test("Case 57: a scope, a frame and a pin that were open at the fork end in the child without a word")
    func openUses() throws {
      let pool = ChunkPool(budget: .bytes(20))
      pool.keepLimit = .bytes(0)
      let frees = ByteTally()
      let chunks = (0..<3).map { TrackedChunk(in: pool, label: "\($0)", size: 3) }
      for chunk in chunks { chunk.hooks.free = { _ in frees.add(1) } }
      func uses(_ inside: () -> Void) throws {
        let pin = try chunks[0].pin()
        try chunks[1].withReady {
          try pool.frame {
            try chunks[2].ensureReady()
            inside()
          }
        }
        pin.unpin()
      }
      try uses {}
      #expect(frees.bytes == 3)
      var isChild = false
      var process: Int32 = 0
      try uses {
        process = forkProcess()
        isChild = process == 0
      }
      if isChild { _exit(frees.bytes == 3 ? 0 : 1) }
      var status: Int32 = 0
      while waitpid(process, &status, 0) < 0, errno == EINTR {}
      #expect(status == 0)
      #expect(frees.bytes == 6)
      #expect(pool.used == .bytes(0))
    }

    /// Whether a small buffer is made, and how the use of one of a gigabyte ends, in a pool of a budget without end.
    private static func buffers() -> (small: Outcome, large: Outcome) {
      let pool = ChunkPool(budget: .bytes(.max))
      let small = BufferChunk(in: pool, size: 1 << 20) { $0.storeBytes(of: 7, toByteOffset: 9, as: UInt8.self) }
      let large = BufferChunk(in: pool, size: 1 << 30) { _ in }
      return (outcome { try small.withBytes { _ in } }, outcome { try large.ensureReady() })
    }

    @Test("Where address space is limited, less is reserved, and a buffer that finds none is refused")
    func addressSpaceLimit() throws {
      let unlimited = Self.buffers()
      #expect(unlimited.small == .ready && unlimited.large == .ready)
      _ = Outcome(ChunkError.recursive([])) == .noRoom(.addressSpace)
      let end = Self.child {
        var line = [UInt8](repeating: 0, count: 64)
        let file = open("/proc/self/statm", O_RDONLY)
        guard file >= 0, read(file, &line, 63) > 0 else { return 1 }
        let pages = line.prefix { $0 >= 0x30 }.reduce(0) { $0 * 10 + UInt($1 - 0x30) }
        let bytes = pages * UInt(sysconf(Int32(_SC_PAGESIZE))) + 128 << 20
        var limit = rlimit(rlim_cur: rlim_t(bytes), rlim_max: rlim_t(bytes))
        guard setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0 else { return 2 }
        let limited = Self.buffers()
        return (limited.small == .ready ? 0 : 4) | (limited.large == .noRoom(.addressSpace) ? 0 : 8)
      }
      #expect(end == .exited(0))
    }

    /// What may be asked of a pool; each must stop a child at once instead of letting it wait for ever.
    private static let questions: [(name: String, ask: @Sendable (ChunkPool, ChunkGroup) -> Void)] = [
      ("used", { pool, _ in _ = pool.used }),
      ("budget", { pool, _ in _ = pool.budget }),
      ("budget =", { pool, _ in pool.budget = .bytes(1) }),
      ("keepLimit", { pool, _ in _ = pool.keepLimit }),
      ("generationLimit", { pool, _ in _ = pool.generationLimit }),
      ("pressure", { pool, _ in _ = pool.pressure }),
      ("keepShares", { pool, _ in _ = pool.keepShares }),
      ("statistics", { pool, _ in _ = pool.statistics }),
      ("snapshot", { pool, _ in _ = pool.snapshot() }),
      ("freeAll", { pool, _ in pool.freeAll() }),
      ("report", { pool, _ in pool.report(.critical) }),
      ("totals", { _, group in _ = group.totals }),
      ("limit", { _, group in _ = group.limit }),
      ("weight", { _, group in _ = group.weight }),
    ]

    @Test("Case 57: whatever else is asked of the pool stops the child, even if its lock was held at the fork")
    func lockHeld() throws {
      // The pool reads its clock under its lock: a clock that waits holds the lock for as long as the test likes.
      let isHeld = Gate()
      let holds = Locked(false)
      let pool = ChunkPool(
        budget: .bytes(20),
        time: {
          let isFirst = holds.withLock { holds in
            defer { holds = false }
            return holds
          }
          if isFirst { isHeld.wait() }
          return 1
        })
      let group = ChunkGroup(in: pool, label: "group")
      let chunk = TrackedChunk(in: pool, label: "chunk", size: 6)
      for question in Self.questions { question.ask(pool, group) }
      pool.budget = .bytes(20)
      holds.set(true)
      let thread = TestThread { try! chunk.ensureReady() }
      isHeld.waitForArrivals()
      for question in Self.questions {
        let end = Self.child {
          question.ask(pool, group)
          return 0
        }
        #expect(end == .killed(SIGILL) || end == .killed(SIGTRAP), "\(question.name): \(end)")
      }
      let end = Self.child { outcome { try chunk.ensureReady() } == .closed(afterFork: true) ? 0 : 1 }
      #expect(end == .exited(0))
      isHeld.open()
      thread.join()
      pool.freeAll()
      #expect(pool.used == .bytes(0))
    }
  }
#endif
