#if os(Linux)
  import Glibc
  import MemChunks
  import MemoryLimits
  import TestSupport
  import Testing

  @Suite("The system's sources")
  struct SystemSourceTests {
    private func sources(
      _ tree: SystemTree, _ environment: [String: String] = [:], named names: String...
    ) -> [any PressureSource] {
      SystemSources.all(files: tree.files, environment: { environment[$0] }).filter { names.contains($0.name) }
    }

    private func statuses(_ tree: SystemTree, _ environment: [String: String] = [:]) -> [String: (Bool, String)] {
      defer { keep(tree) }
      let monitor = PressureMonitor(SystemSources.all(files: tree.files, environment: { environment[$0] }))
      return Dictionary(uniqueKeysWithValues: monitor.status.map { ($0.name, ($0.isLive, $0.detail)) })
    }

    @Test("Each source that is absent says what is missing")
    func absent() {
      let found = statuses(SystemTree())
      #expect(found.allSatisfy { !$0.value.0 })
      #expect(found["cgroup"]?.1 == "no control group of this process has a limit")
      #expect(found["psi"]?.1.contains("/proc/pressure/memory: ") == true)
      #expect(found["psi-group"]?.1 == "this process is in no control group of version 2")
      #expect(found["systemd"]?.1 == "MEMORY_PRESSURE_WATCH is not set")
      #expect(found["android"]?.1 == "this is not Android")
    }

    @Test(
      "What systemd says is looked at closely",
      arguments: [
        (["MEMORY_PRESSURE_WATCH": "/dev/null"], "not wanted"),
        (["MEMORY_PRESSURE_WATCH": "relative"], "no absolute path"),
        (["MEMORY_PRESSURE_WATCH": "/nonexistent/file"], "No such file"),
        (["MEMORY_PRESSURE_WATCH": "/dev/zero"], "neither a file nor a FIFO nor a socket"),
        (["MEMORY_PRESSURE_WATCH": "/dev/zero", "MEMORY_PRESSURE_WRITE": "*"], "not base 64"),
      ])
    func badService(environment: [String: String], reason: String) {
      let found = statuses(SystemTree(), environment)["systemd"]
      #expect(found?.0 == false && found?.1.contains(reason) == true)
    }

    @Test("systemd's variable with a FIFO: first its bytes are written, then each message is a warning")
    func service() throws {
      let tree = SystemTree()
      defer { keep(tree) }
      tree.makeFIFO("/pressure")
      let reader = open(tree.path("/pressure"), O_RDWR | O_NONBLOCK)
      defer { close(reader) }
      let environment = ["MEMORY_PRESSURE_WATCH": tree.path("/pressure"), "MEMORY_PRESSURE_WRITE": "c29tZQ=="]
      let pool = ChunkPool(budget: .bytes(100))
      let monitor = PressureMonitor(sources(tree, environment, named: "systemd"))
      pool.respond(to: monitor)
      #expect(monitor.status.first?.isLive == true)
      // Its own bytes come back to it here, as both ends are open at both sides: somebody has written, so it is a warning.
      #expect(eventually { pool.pressure == .warning })
    }

    @Test("systemd's variable with a socket: it is connected to, written to, and each message is a warning")
    func socketService() throws {
      let tree = SystemTree()
      defer { keep(tree) }
      let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      defer { close(listener) }
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(tree.path("/socket").utf8) + [0]) }
      let bound = withUnsafeBytes(of: &address) { bytes in
        bytes.withMemoryRebound(to: sockaddr.self) { bind(listener, $0.baseAddress, socklen_t(bytes.count)) }
      }
      defer { unlink(tree.path("/socket")) }
      try #require(bound == 0 && listen(listener, 1) == 0)

      let environment = ["MEMORY_PRESSURE_WATCH": tree.path("/socket"), "MEMORY_PRESSURE_WRITE": "c29tZQ=="]
      let monitor = PressureMonitor(sources(tree, environment, named: "systemd"))
      #expect(monitor.status.first?.isLive == true)
      let connection = accept(listener, nil, nil)
      defer { close(connection) }
      var bytes = [UInt8](repeating: 0, count: 16)
      #expect(read(connection, &bytes, 16) == 4 && bytes.prefix(4) == [115, 111, 109, 101])
      #expect(monitor.level == .normal)
      #expect(write(connection, "!", 1) == 1)
      #expect(eventually { monitor.level == .warning })
    }

    @Test("Base 64", arguments: [("", []), ("QQ==", [65]), ("QQ", [65]), ("QUI=", [65, 66]), ("/+8=", [255, 239])])
    func base64(text: String, bytes: [UInt8]) {
      #expect(ServiceProbe.bytes(base64: text) == bytes)
    }

    @Test("What is not base 64", arguments: ["Q", "QQ=", "Q===", "QQ==QQ==", "Q Q=", "\u{e9}Q="])
    func notBase64(text: String) {
      #expect(ServiceProbe.bytes(base64: text) == nil)
    }

    @Test("A group of version 1: the level is that of its anonymous memory, however many files are cached")
    func groupV1() throws {
      let group = "/sys/fs/cgroup/memory/g"
      let tree = SystemTree.v1(
        group: "/g",
        ["\(group)/memory.limit_in_bytes": "1000\n", "\(group)/memory.stat": "total_cache 900\ntotal_rss 100\n"])
      defer { keep(tree) }
      tree.set("\(group)/memory.usage_in_bytes", "1000\n")
      let probe = try GroupProbe(tree.files)
      #expect(probe.place == "\(group): total_rss, read every second")
      #expect(probe.look(isReady: false).signal == PressureSignal(.normal))
      tree.set("\(group)/memory.stat", "total_rss 850\n")
      #expect(probe.look(isReady: false) == (PressureSignal(.warning), .milliseconds(100)))
      tree.set("\(group)/memory.stat", "total_rss 950\n")
      #expect(probe.look(isReady: false).signal == PressureSignal(.critical))
      // The limit is raised under the running program.
      tree.set("\(group)/memory.limit_in_bytes", "9500\n")
      #expect(probe.look(isReady: false) == (PressureSignal(.normal), .seconds(1)))
      tree.set("\(group)/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n")
      #expect(probe.look(isReady: false).signal == PressureSignal(.critical))
      #expect(probe.look(isReady: false).signal == PressureSignal(.normal))
    }

    @Test("Thresholds are asked for once for each limit, from half of it up")
    func thresholds() throws {
      let group = "/sys/fs/cgroup/memory/g"
      let tree = SystemTree.v1(
        group: "/g", ["\(group)/memory.limit_in_bytes": "1000\n", "\(group)/memory.stat": "total_rss 100\n"])
      defer { keep(tree) }
      tree.set("\(group)/memory.usage_in_bytes", "500\n")
      tree.set("\(group)/cgroup.event_control", "")
      let probe = try GroupProbe(tree.files)
      #expect(probe.place == "\(group): total_rss, usage thresholds")
      // A plain file keeps what was written last over what was written before.
      let first = String(decoding: readFile(tree.path("\(group)/cgroup.event_control")) ?? [], as: UTF8.self)
      #expect(first.split(separator: " ").last == "950")
      tree.set("\(group)/cgroup.event_control", "")
      _ = probe.look(isReady: false)
      #expect(readFile(tree.path("\(group)/cgroup.event_control")) == [])
      tree.set("\(group)/memory.limit_in_bytes", "800\n")
      _ = probe.look(isReady: false)
      #expect(readFile(tree.path("\(group)/cgroup.event_control"))?.isEmpty == false)
    }

    @Test("Groups of version 2: the fullest of the group and those around it counts, and a kill is critical")
    func groupV2() throws {
      let (group, around) = ("/sys/fs/cgroup/a/g", "/sys/fs/cgroup/a")
      let tree = SystemTree.v2(
        group: "/a/g",
        [
          "\(group)/memory.max": "1000\n", "\(group)/memory.stat": "anon 100\nfile 900\n",
          "\(around)/memory.max": "3000\n", "\(around)/memory.stat": "anon 100\n",
          "\(group)/memory.events": "low 0\nhigh 7\nmax 9\noom 0\noom_kill 0\n",
        ])
      defer { keep(tree) }
      let probe = try GroupProbe(tree.files)
      #expect(probe.place == "\(group): anon, memory.events")
      #expect(probe.look(isReady: true).signal == PressureSignal(.normal))
      tree.set("\(around)/memory.stat", "anon 2500\n")
      #expect(probe.look(isReady: true).signal == PressureSignal(.warning))
      tree.set("\(around)/memory.stat", "anon 100\n")
      tree.set("\(group)/memory.events", "low 0\nhigh 9\nmax 12\noom 1\noom_kill 0\n")
      #expect(probe.look(isReady: true).signal == PressureSignal(.critical))
      #expect(probe.look(isReady: true).signal == PressureSignal(.normal))
      // The group has gone.
      for file in ["memory.stat", "memory.max", "memory.events"] { unlink(tree.path("\(group)/\(file)")) }
      #expect(probe.look(isReady: true).signal == PressureSignal(.normal))
    }

    @Test("Of groups with the same limit the one around the others is waited for, because others have a part of it")
    func sharedLimit() throws {
      let (group, around) = ("/sys/fs/cgroup/memory/a/g", "/sys/fs/cgroup/memory/a")
      let tree = SystemTree.v1(
        group: "/a/g",
        [
          "\(group)/memory.stat": "hierarchical_memory_limit 1000\ntotal_rss 100\n",
          "\(around)/memory.limit_in_bytes": "1000\n", "\(around)/memory.stat": "total_rss 950\n",
        ])
      defer { keep(tree) }
      let probe = try GroupProbe(tree.files)
      #expect(probe.place.hasPrefix("\(around): "))
      #expect(probe.look(isReady: false).signal == PressureSignal(.critical))
    }

    @Test("A full group is seen by the polling thread, and the pool answers")
    func polled() throws {
      let group = "/sys/fs/cgroup/g"
      let tree = SystemTree.v2(
        group: "/g", ["\(group)/memory.max": "1000\n", "\(group)/memory.stat": "anon 950\n"])
      defer { keep(tree) }
      let pool = ChunkPool(budget: .bytes(100))
      pool.respond(to: PressureMonitor(sources(tree, named: "cgroup")))
      #expect(eventually { pool.pressure == .critical })
      tree.set("\(group)/memory.stat", "anon 100\n")
      #expect(eventually { pool.pressure == .normal })
    }

    @Test("How long everything stood still is read from the line of that name")
    func stall() {
      let text = "some avg10=90.00 avg60=1.00 avg300=0.00 total=1\nfull avg10=12.50 avg60=0.40 avg300=0.09 total=2\n"
      #expect(StallProbe.fullStall(in: text) == 12.5)
      #expect(StallProbe.fullStall(in: "some avg10=90.00\n") == 0)
    }

    @Test(
      "The kernel takes our trigger", .enabled(if: access("/proc/pressure/memory", R_OK | W_OK) == 0, "no writable PSI")
    )
    func trigger() throws {
      let probe = try StallProbe("/proc/pressure/memory")
      #expect(probe.look(isReady: false).signal == nil)
      #expect(probe.look(isReady: true).signal?.duration != nil)
    }

    @Test("Android's levels")
    func android() {
      #expect(
        [0, 5, 10, 15, 20, 40, 60, 80].map { AndroidTrim.pressure(at: $0) } == [
          .normal, .warning, .warning, .critical, .warning, .warning, .critical, .critical,
        ])
      // Nobody listens here.
      AndroidTrim.report(80)
    }

    /// How many entries a directory has.
    private func count(_ directory: String) -> Int {
      guard let stream = opendir(directory) else { return 0 }
      defer { closedir(stream) }
      var count = 0
      while readdir(stream) != nil { count += 1 }
      return count
    }

    @Test("1 000 times started and stopped, every source leaves threads and files as they were")
    func cycles() {
      let group = "/sys/fs/cgroup/memory/g"
      let tree = SystemTree.v1(
        group: "/g", ["\(group)/memory.limit_in_bytes": "1000\n", "\(group)/memory.stat": "total_rss 100\n"])
      defer { keep(tree) }
      tree.set("\(group)/memory.usage_in_bytes", "500\n")
      tree.set("\(group)/cgroup.event_control", "")
      tree.makeFIFO("/pressure")
      let environment = ["MEMORY_PRESSURE_WATCH": tree.path("/pressure")]
      let (threads, files) = (count("/proc/self/task"), count("/proc/self/fd"))
      for _ in 0..<1_000 {
        let pool = ChunkPool(budget: .share(0.1), files: tree.files)
        let monitor = PressureMonitor(
          SystemSources.all(files: tree.files, environment: { environment[$0] }))
        pool.respond(to: monitor)
        #expect(monitor.status.filter(\.isLive).map(\.name) == ["cgroup", "systemd"])
      }
      // Other tests have threads and files too, but not hundreds.
      #expect(eventually { count("/proc/self/task") < threads + 100 && count("/proc/self/fd") < files + 100 })
    }
  }
#endif
