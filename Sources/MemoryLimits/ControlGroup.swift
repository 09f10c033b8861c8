/// A control group that this process belongs to, itself or through a group inside, as a directory (cgroups(7)).
struct ControlGroup: Equatable, Sendable {
  enum Version: Sendable { case v1, v2 }

  var version: Version
  /// Where its files lie.
  var directory: String

  /// The process's groups that can be seen: of each version its own group first, then the ancestors up to the mount.
  ///
  /// Both versions are looked at, because on a hybrid system the memory controller belongs to either. A directory that
  /// is not there is a group all the same: its limits cannot be read, those of the groups around it hold.
  static func all(_ files: SystemFiles) -> [ControlGroup] {
    guard let memberships = files.text("/proc/self/cgroup"), let table = files.text("/proc/self/mountinfo")
    else { return [] }
    let mounts = MountTable(table).mounts
    return memberships.split(whereSeparator: \.isNewline).flatMap { line -> [ControlGroup] in
      // A name may hold colons; the two fields before it may not.
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { return [] }
      if fields[0] == "0", fields[1].isEmpty {
        return groups(.v2, named: fields[2], in: mounts.filter { $0.kind == "cgroup2" })
      }
      guard fields[1].split(separator: ",").contains("memory") else { return [] }
      return groups(.v1, named: fields[2], in: mounts.filter { $0.kind == "cgroup" && $0.options.contains("memory") })
    }
  }

  private static func groups(_ version: Version, named name: Substring, in mounts: [MountTable.Mount]) -> [ControlGroup]
  {
    // A container may have the host's whole hierarchy mounted beside its own part of it: the mount that shows most
    // ancestors knows most limits. A root above that of the name space (`/..`) does not say the way down to the group.
    let best = mounts.compactMap { mount in
      steps(from: mount.root, to: name).map { (point: mount.point, steps: $0) }
    }.max { $0.steps.count < $1.steps.count }
    if let best {
      return directories(from: best.point, along: best.steps).map { ControlGroup(version: version, directory: $0) }
    }
    // The name is another name space's. What is mounted is at least an ancestor, or the group itself.
    return mounts.first.map { [ControlGroup(version: version, directory: $0.point)] } ?? []
  }

  /// The names on the way down from one group to another; nil where there is none.
  private static func steps(from root: String, to name: Substring) -> [Substring]? {
    let start = root.split(separator: "/"), end = name.split(separator: "/")
    guard end.starts(with: start), !end.contains("..") else { return nil }
    return Array(end.dropFirst(start.count))
  }

  private static func directories(from point: String, along steps: [Substring]) -> [String] {
    (0...steps.count).reversed().map { depth in steps.prefix(depth).reduce(point) { "\($0)/\($1)" } }
  }
}
