import CMemoryLimits
import MemChunks

#if canImport(Darwin)
  import Darwin  // Not run here.
#elseif canImport(Android)
  import Android  // Not run here.
#elseif canImport(Musl)
  import Musl  // Not run here.
#else
  import Glibc
#endif

/// How full the control groups of the process are (the kernel's cgroup-v2 and cgroup-v1/memory documents).
///
/// The level is told from what no file stands behind. Usage counts cached files too, and reading files alone takes it to
/// the limit; those give way, so that is no pressure. Events of either version only say when to look: they are sent for
/// cached files as well. `memory.pressure_level` of version 1 is not used: with no swap it says nothing before the kill.
package final class GroupProbe: Probe {
  /// Looked at so often when nothing is sent.
  private static let period = Duration.seconds(1)
  /// And so often near the limit, where cached files have crossed the last threshold long ago.
  private static let nearPeriod = Duration.milliseconds(100)

  private struct Watched {
    var group: ControlGroup
    var gauge = LevelGauge()
    /// How often the system has killed a process of the group, or was about to.
    var kills = 0
  }

  package let place: String
  let descriptor: Descriptor?
  let events: Int
  private let files: SystemFiles
  private var watched: [Watched]
  private let thresholds: UsageThresholds?

  package init(_ files: SystemFiles) throws(PressureSourceError) {
    self.files = files
    let limited = ControlGroup.all(files).compactMap { group in
      group.limit(files).map { (group: group, limit: $0) }
    }
    // Of equal limits the outermost is reached first, as others may have a part of it.
    guard let first = limited.reversed().min(by: { $0.limit < $1.limit })?.group else {
      throw PressureSourceError("no control group of this process has a limit")
    }
    guard first.anonymousBytes(files) != nil else {
      throw PressureSourceError("\(first.directory)/memory.stat cannot be read")
    }
    watched = limited.map { Watched(group: $0.group, kills: $0.group.kills(files)) }
    switch first.version {
    case .v1:
      thresholds = UsageThresholds(of: first, files)
      descriptor = thresholds?.counter
      events = Int(POLLIN)
      place = "\(first.directory): total_rss, \(thresholds == nil ? "read every second" : "usage thresholds")"
    case .v2:
      thresholds = nil
      descriptor = Descriptor(opening: files.path("\(first.directory)/memory.events"), O_RDONLY)
      events = Int(POLLPRI)
      place = "\(first.directory): anon, \(descriptor == nil ? "read every second" : "memory.events")"
    }
  }

  /// The number of the file that the polling thread waits for, for tests.
  package var descriptorNumber: Int32? { descriptor?.number }

  package func look(isReady: Bool) -> (signal: PressureSignal?, next: Duration?) {
    if isReady { thresholds?.counter.drain() }
    if let thresholds, let limit = thresholds.group.limit(files) { thresholds.add(for: limit, files) }
    var level = PressureLevel.normal
    var isNear = false
    for index in watched.indices {
      let group = watched[index].group
      let kills = group.kills(files)
      if kills > watched[index].kills { level = .critical }
      watched[index].kills = kills
      // The limit may have been taken away, or the group may.
      guard let limit = group.limit(files), let used = group.anonymousBytes(files) else { continue }
      level = max(level, watched[index].gauge.take(used, of: limit))
      isNear = isNear || Double(used) > (LevelGauge.warning - 2 * LevelGauge.gap) * Double(limit)
    }
    return (PressureSignal(level), isNear ? Self.nearPeriod : Self.period)
  }
}

/// Thresholds on the usage of a group of version 1: the kernel adds to a counter when usage crosses one, up or down.
private final class UsageThresholds {
  private static let shares = stride(from: 0.5, to: 0.99, by: 0.05)

  let group: ControlGroup
  let counter: Descriptor
  /// The limits for which there are thresholds. The kernel forgets them when the counter is closed, not before.
  private var limits: Set<Int> = []

  /// Nil where the group's files may only be read, as in most containers.
  init?(of group: ControlGroup, _ files: SystemFiles) {
    guard let counter = Descriptor(owning: mc_event_counter()) else { return nil }
    (self.group, self.counter) = (group, counter)
    guard let limit = group.limit(files), add(for: limit, files) else { return nil }
  }

  /// Sets thresholds for a limit, once; false where that cannot be.
  @discardableResult
  func add(for limit: Int, _ files: SystemFiles) -> Bool {
    guard limits.insert(limit).inserted else { return true }
    guard let control = Descriptor(opening: files.path("\(group.directory)/cgroup.event_control"), O_WRONLY),
      let usage = Descriptor(opening: files.path("\(group.directory)/memory.usage_in_bytes"), O_RDONLY)
    else { return false }
    return Self.shares.allSatisfy { share in
      control.write(Array("\(counter.number) \(usage.number) \(Int(Double(limit) * share))".utf8))
    }
  }
}

extension ControlGroup {
  /// Above how many bytes processes of the group are killed or slowed down; nil where there is no limit.
  func limit(_ files: SystemFiles) -> Int? {
    limits(files).map(\.size.bytes).min()
  }

  /// How often processes of the group were killed, or a request failed at the limit, since it was made.
  fileprivate func kills(_ files: SystemFiles) -> Int {
    let (name, keys) =
      version == .v2 ? ("memory.events", ["oom", "oom_kill"]) : ("memory.oom_control", ["under_oom", "oom_kill"])
    guard let text = files.text("\(directory)/\(name)") else { return 0 }
    return keys.reduce(0) { $0 + (SystemFiles.number(after: $1, in: text) ?? 0) }
  }
}
