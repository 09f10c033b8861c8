import MemoryLimits
import TestSupport

// Darwin and Musl are not run here.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A system of a test's own making: a tree of small files, removed when the test lets go of it.
final class SystemTree: Sendable {
  private let base = TemporaryDirectory()
  private let made = Locked<(directories: [String], files: Set<String>)>(([], []))

  /// Makes a tree of files by their absolute paths, with their texts.
  init(_ files: [String: String] = [:]) {
    for (path, text) in files { set(path, text) }
  }

  deinit {
    for file in made.current.files { unlink(file) }
    for directory in made.current.directories.reversed() { rmdir(directory) }
  }

  /// Where a source or a limit is to look.
  var files: SystemFiles { SystemFiles(root: base.path) }

  /// The real path of a file in the tree.
  func path(_ path: String) -> String { base.path + path }

  /// Makes or replaces a file, at once, with the directories above it.
  func set(_ path: String, _ text: String) {
    makeDirectories(above: path)
    let file = self.path(path)
    made.withLock { _ = $0.files.insert(file) }
    // Who reads meanwhile sees the old text or the new.
    writeFile(file + ".new", Array(text.utf8))
    rename(file + ".new", file)
  }

  /// Makes a FIFO.
  func makeFIFO(_ path: String) {
    makeDirectories(above: path)
    made.withLock { _ = $0.files.insert(self.path(path)) }
    precondition(mkfifo(self.path(path), 0o600) == 0, "no FIFO can be made")
  }

  /// Makes a link to something of the running system.
  func link(_ path: String, to target: String) {
    makeDirectories(above: path)
    made.withLock { _ = $0.files.insert(self.path(path)) }
    precondition(symlink(target, self.path(path)) == 0, "no link can be made")
  }

  private func makeDirectories(above path: String) {
    var directory = base.path
    for name in path.split(separator: "/").dropLast() {
      directory += "/\(name)"
      if mkdir(directory, 0o700) == 0 { made.withLock { $0.directories.append(directory) } }
    }
  }
}

extension SystemTree {
  /// A machine of 16 GB whose groups of version 2 are mounted where they usually are.
  static func v2(group: String, _ files: [String: String] = [:]) -> SystemTree {
    let tree = SystemTree(files)
    tree.set("/proc/meminfo", "MemTotal:       16777216 kB\nMemFree:         1000000 kB\n")
    tree.set("/proc/self/cgroup", "0::\(group)\n")
    tree.set("/proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n")
    return tree
  }

  /// The same with version 1.
  static func v1(group: String, _ files: [String: String] = [:]) -> SystemTree {
    let tree = SystemTree(files)
    tree.set("/proc/meminfo", "MemTotal:       16777216 kB\n")
    tree.set("/proc/self/cgroup", "4:memory:\(group)\n1:cpu:/elsewhere\n")
    tree.set("/proc/self/mountinfo", "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n")
    return tree
  }
}

/// Says that the tree is still there. An optimised build lets go of it after its last mention, and so removes its files.
@inline(never)
func keep(_ tree: SystemTree) { withExtendedLifetime(tree) {} }
