#if os(Linux)
  import Glibc
  import MemChunks
  import MemoryLimits
  import TestSupport
  import Testing

  /// A group of version 1 of the running system, with a limit, and a program in it that holds memory.
  private final class RealGroup {
    static let parent = "/sys/fs/cgroup/memory"
    static var canBeMade: Bool { access(parent, W_OK) == 0 && access("\(parent)/memory.limit_in_bytes", F_OK) == 0 }

    let name = "memchunk-test-\(getpid())"
    var directory: String { "\(Self.parent)/\(name)" }
    private var shell: pid_t = 0

    init?(limit: Int) {
      guard mkdir(directory, 0o700) == 0 else { return nil }
      writeFile("\(directory)/memory.limit_in_bytes", Array("\(limit)".utf8))
    }

    deinit {
      letGo()
      // The group goes a moment after its last process.
      _ = eventually { rmdir(directory) == 0 || errno == ENOENT }
    }

    /// Has a program in the group hold so many bytes: `tail` keeps what it may have to print until its input ends.
    func hold(_ bytes: Int) {
      let script =
        "echo $$ >'\(directory)/cgroup.procs'; { head -c \(bytes) /dev/zero; sleep 1000; } | tail -c \(bytes) >/dev/null"
      var words: [UnsafeMutablePointer<CChar>?] = ["sh", "-c", script].map { (word: String) in strdup(word) } + [nil]
      defer { words.forEach { free($0) } }
      precondition(posix_spawn(&shell, "/bin/sh", nil, nil, &words, environ) == 0, "no shell can be run")
    }

    /// Ends the program.
    func letGo() {
      guard shell > 0 else { return }
      let members = String(decoding: readFile("\(directory)/cgroup.procs") ?? [], as: UTF8.self)
      for member in members.split(separator: "\n").compactMap({ pid_t($0) }) { kill(member, SIGKILL) }
      kill(shell, SIGKILL)
      var status: Int32 = 0
      waitpid(shell, &status, 0)
      shell = 0
    }
  }

  @Suite("A real group", .serialized, .enabled(if: RealGroup.canBeMade, "no group of version 1 can be made here"))
  struct RealGroupTests {
    private func tree(_ group: RealGroup) -> SystemTree {
      let tree = SystemTree.v1(group: "/\(group.name)")
      tree.link("/sys/fs/cgroup/memory/\(group.name)", to: group.directory)
      return tree
    }

    @Test("Version 1: the kernel's thresholds wake us, and what the group holds is a warning; then it ends")
    func thresholds() throws {
      let group = try #require(RealGroup(limit: 64 << 20))
      let tree = tree(group)
      defer { keep(tree) }
      let probe = try GroupProbe(tree.files)
      #expect(probe.place.hasSuffix("usage thresholds"))
      #expect(probe.look(isReady: false).signal == PressureSignal(.normal))
      let pool = ChunkPool(budget: .share(0.25), files: tree.files)
      #expect(pool.budget == .megabytes(16))
      pool.respond(to: PressureMonitor(SystemSources.all(files: tree.files).filter { $0.name == "cgroup" }))

      group.hold(55 << 20)
      let counter = try #require(probe.descriptorNumber)
      var file = pollfd(fd: counter, events: Int16(POLLIN), revents: 0)
      #expect(poll(&file, 1, Int32(patience) * 1_000) == 1)
      #expect(eventually { probe.look(isReady: true).signal == PressureSignal(.warning) })
      #expect(eventually { pool.pressure == .warning })
      group.letGo()
      #expect(eventually { pool.pressure == .normal })
      withExtendedLifetime(group) {}
    }
  }
#endif
