import MemChunks
import MemoryLimits
import Testing

@Suite("What a process may have")
struct ProcessLimitsTests {
  private func least(_ tree: SystemTree) -> (kind: MemoryLimit.Kind, bytes: Int, place: String) {
    let least = ProcessLimits.current(tree.files).least
    keep(tree)
    return (least.kind, least.size.bytes, least.place)
  }

  @Test("Without any group it is what the machine has")
  func physical() {
    let tree = SystemTree(["/proc/meminfo": "MemFree: 5 kB\nMemTotal:    2048 kB\n"])
    defer { keep(tree) }
    #expect(least(tree) == (.physical, 2 << 20, "/proc/meminfo"))
  }

  @Test("Without any file it is what the C library says")
  func nothing() {
    let least = least(SystemTree())
    #expect(least.kind == .physical && least.bytes > 1 << 20 && least.place == "sysconf(_SC_PHYS_PAGES)")
  }

  @Test("Version 2: the least of max and high, in the group and in every group around it")
  func v2() {
    let tree = SystemTree.v2(
      group: "/app.slice/web/worker",
      [
        "/sys/fs/cgroup/app.slice/memory.max": "200000000\n",
        "/sys/fs/cgroup/app.slice/web/memory.max": "max\n",
        "/sys/fs/cgroup/app.slice/web/memory.high": "100000000\n",
        "/sys/fs/cgroup/app.slice/web/worker/memory.max": "150000000\n",
        "/sys/fs/cgroup/app.slice/web/worker/memory.high": "max\n",
      ])
    defer { keep(tree) }
    #expect(least(tree) == (.groupHigh, 100_000_000, "/sys/fs/cgroup/app.slice/web/memory.high"))
    #expect(
      ProcessLimits.current(tree.files).limits.map(\.size.bytes) == [100_000_000, 150_000_000, 200_000_000, 16 << 30])
    tree.set("/sys/fs/cgroup/app.slice/memory.max", "90000000\n")
    #expect(least(tree) == (.groupMaximum, 90_000_000, "/sys/fs/cgroup/app.slice/memory.max"))
  }

  @Test("Version 1: every ancestor counts, and the huge number means that there is no limit")
  func v1() {
    let tree = SystemTree.v1(
      group: "/docker/x",
      [
        "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
        "/sys/fs/cgroup/memory/docker/memory.limit_in_bytes": "300000000\n",
        "/sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes": "9223372036854710272\n",
      ])
    defer { keep(tree) }
    #expect(least(tree) == (.groupLimit, 300_000_000, "/sys/fs/cgroup/memory/docker/memory.limit_in_bytes"))
    tree.set("/sys/fs/cgroup/memory/docker/x/memory.stat", "cache 1\nhierarchical_memory_limit 200000000\n")
    #expect(least(tree).bytes == 200_000_000)
  }

  @Test("Hybrid: the controller may belong to either version, and both are asked")
  func hybrid() {
    let tree = SystemTree([
      "/proc/meminfo": "MemTotal: 16777216 kB\n",
      "/proc/self/cgroup": "5:cpu,memory:/a:b\n0::/u\n",
      "/proc/self/mountinfo": """
      35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,cpu,memory
      41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw

      """,
      "/sys/fs/cgroup/memory/a:b/memory.limit_in_bytes": "70000000\n",
      "/sys/fs/cgroup/unified/u/memory.pressure": "",
    ])
    defer { keep(tree) }
    #expect(least(tree) == (.groupLimit, 70_000_000, "/sys/fs/cgroup/memory/a:b/memory.limit_in_bytes"))
    tree.set("/sys/fs/cgroup/unified/u/memory.max", "60000000\n")
    #expect(least(tree).bytes == 60_000_000)
  }

  @Test("A container that sees its own group only: the mount's root is taken off the name")
  func container() {
    let tree = SystemTree.v2(group: "/docker/abc/inner", ["/sys/fs/cgroup/inner/memory.max": "50000000\n"])
    defer { keep(tree) }
    tree.set("/proc/self/mountinfo", "9 8 0:5 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n")
    #expect(least(tree) == (.groupMaximum, 50_000_000, "/sys/fs/cgroup/inner/memory.max"))
    tree.set("/sys/fs/cgroup/memory.max", "40000000\n")
    #expect(least(tree).bytes == 40_000_000)
  }

  @Test("The host's hierarchy mounted beside: the mount that shows most ancestors is taken")
  func hostMount() {
    let tree = SystemTree.v2(group: "/docker/abc", ["/host/cgroup/docker/memory.max": "30000000\n"])
    defer { keep(tree) }
    tree.set(
      "/proc/self/mountinfo",
      """
      9 8 0:5 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw
      10 8 0:5 / /host/cgroup ro shared:3 master:4 - cgroup2 cgroup rw

      """)
    #expect(least(tree).place == "/host/cgroup/docker/memory.max")
  }

  @Test("Names of another name space: what is mounted still holds")
  func nameSpace() {
    let tree = SystemTree.v2(group: "/../other", ["/sys/fs/cgroup/memory.max": "20000000\n"])
    defer { keep(tree) }
    #expect(least(tree).bytes == 20_000_000)
    tree.set("/proc/self/cgroup", "0::/here\n")
    tree.set("/proc/self/mountinfo", "9 8 0:5 /.. /sys/fs/cgroup ro - cgroup2 cgroup rw\n")
    #expect(least(tree).bytes == 20_000_000)
  }

  @Test("A group that cannot be seen hides nothing of those around it")
  func missingGroup() {
    let tree = SystemTree.v2(group: "/a/gone/deeper", ["/sys/fs/cgroup/a/memory.max": "10000000\n"])
    defer { keep(tree) }
    #expect(least(tree).place == "/sys/fs/cgroup/a/memory.max")
  }

  @Test("Mount points with spaces and backslashes, and mounts that hide others")
  func escapes() {
    let tree = SystemTree.v2(
      group: "/g", ["/my groups\\/g/memory.max": "11000000\n", "/sys/fs/cgroup/g/memory.max": "5000000\n"])
    defer { keep(tree) }
    tree.set(
      "/proc/self/mountinfo",
      """
      9 8 0:5 / /sys/fs/cgroup rw - cgroup2 cgroup rw
      10 8 0:6 / /sys/fs/cgroup rw - tmpfs tmpfs rw
      11 8 0:5 / /my\\040groups\\134 rw - cgroup2 cgroup rw

      """)
    #expect(least(tree) == (.groupMaximum, 11_000_000, "/my groups\\/g/memory.max"))
  }

  @Test("Address space and data limits of the process")
  func resources() {
    let tree = SystemTree.v2(group: "/")
    defer { keep(tree) }
    let head = "Limit                     Soft Limit           Hard Limit           Units     \n"
    tree.set(
      "/proc/self/limits",
      head + "Max data size             unlimited            unlimited            bytes     \n"
        + "Max address space         80000000             unlimited            bytes     \n")
    #expect(least(tree) == (.addressSpace, 80_000_000, "/proc/self/limits: Max address space"))
    tree.set(
      "/proc/self/limits", head + "Max data size             70000000            90000000            bytes     \n")
    #expect(least(tree) == (.data, 70_000_000, "/proc/self/limits: Max data size"))
  }

  @Test(
    "Nonsense in a file is no limit",
    arguments: ["", "\n", "max", "-5", "12x", "99999999999999999999999", "\u{0}", "9223372036854771712"])
  func nonsense(text: String) {
    let tree = SystemTree.v2(group: "/g", ["/sys/fs/cgroup/g/memory.max": text])
    defer { keep(tree) }
    #expect(least(tree).kind == .physical)
  }

  @Test(
    "Nonsense in the tables ends well",
    arguments: [
      "", "::::", "0", "0::", "4:memory", "31 23 0:28 / - cgroup2", "- - - - - - - - -", "\\", "a b c d e f g - \\9",
    ])
  func nonsenseTables(text: String) {
    let tree = SystemTree.v2(group: "/g")
    defer { keep(tree) }
    tree.set("/proc/self/cgroup", text)
    #expect(least(tree).kind == .physical)
    tree.set("/proc/self/cgroup", "0::/g\n")
    tree.set("/proc/self/mountinfo", text)
    #expect(least(tree).kind == .physical)
  }

  @Test("A limit of nothing is a limit")
  func zero() {
    #expect(least(SystemTree.v2(group: "/g", ["/sys/fs/cgroup/g/memory.max": "0\n"])).bytes == 0)
  }

  @Test("The running system says something, least first")
  func real() {
    let limits = ProcessLimits.current().limits
    #expect(!limits.isEmpty)
    #expect(limits.map(\.size) == limits.map(\.size).sorted())
  }
}

@Suite("What a process has")
struct ProcessMemoryTests {
  @Test("Read from the rollup, where there is one")
  func rollup() {
    let tree = SystemTree.v2(group: "/g")
    defer { keep(tree) }
    tree.set("/proc/self/status", "VmRSS:    1 kB\nRssAnon:  1 kB\nVmSwap: 1 kB\n")
    #expect(ProcessMemory.current(tree.files).resident == 1 << 10)
    tree.set(
      "/proc/self/smaps_rollup",
      "5638-7fff ---p 00000000 00:00 0    [rollup]\nRss:      100 kB\nPss_Anon: 7 kB\nAnonymous:   60 kB\nLazyFree:  20 kB\n"
        + "Swap:    5 kB\nSwapPss:  4 kB\n")
    let memory = ProcessMemory.current(tree.files)
    #expect(memory.resident == 100 << 10 && memory.anonymous == 60 << 10)
    #expect(memory.lazilyFreed == 20 << 10 && memory.swap == 5 << 10)
    #expect(memory.groups.isEmpty)
  }

  @Test("Groups of both versions say usage and what presses in it")
  func groups() {
    let v2 = SystemTree.v2(
      group: "/a/g",
      [
        "/sys/fs/cgroup/a/g/memory.current": "1000\n", "/sys/fs/cgroup/a/g/memory.stat": "anon 600\nfile 400\n",
        "/sys/fs/cgroup/a/memory.current": "2000\n",
      ])
    defer { keep(v2) }
    let groups = ProcessMemory.current(v2.files).groups
    #expect(groups.map(\.usage) == [1_000, 2_000] && groups.map(\.anonymous) == [600, nil])
    let v1 = SystemTree.v1(
      group: "/g",
      [
        "/sys/fs/cgroup/memory/g/memory.usage_in_bytes": "1000\n",
        "/sys/fs/cgroup/memory/g/memory.stat": "rss 5\ntotal_cache 300\ntotal_rss 700\n",
      ])
    defer { keep(v1) }
    #expect(ProcessMemory.current(v1.files).groups.map(\.anonymous) == [700])
  }

  #if os(Linux)
    @Test("The running process has something, and most of what it has is no more than all of it")
    func real() throws {
      let memory = ProcessMemory.current()
      let resident = try #require(memory.resident), anonymous = try #require(memory.anonymous)
      #expect(anonymous > 0 && anonymous <= resident)
    }
  #endif
}
