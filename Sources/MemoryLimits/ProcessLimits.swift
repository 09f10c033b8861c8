import CMemChunks
public import MemChunks

#if canImport(Darwin)
  import CMemoryLimits  // Not run here.
#endif

/// Something that bounds the memory of this process, and where that was found.
public struct MemoryLimit: Sendable, Equatable {
  /// What kind of limit it is.
  public enum Kind: String, Sendable, CaseIterable {
    /// What the machine, or the container that is shown as one, has.
    case physical
    /// `memory.max` of a group of version 2: above it the process is killed.
    case groupMaximum
    /// `memory.high` of a group of version 2: above it the process is slowed down.
    case groupHigh
    /// `memory.limit_in_bytes` of a group of version 1: above it the process is killed.
    case groupLimit
    /// `RLIMIT_AS`: above it no address space is to be had, whether resident or not.
    case addressSpace
    /// `RLIMIT_DATA`: above it the heap does not grow.
    case data
    /// What Darwin lets an app have.
    case app
    /// What Android lets an app have.
    case heapClass
  }

  /// What kind of limit it is.
  public var kind: Kind
  /// How much memory it allows.
  public var size: ByteCount
  /// The file, or the call, that says so.
  public var place: String
}

/// What this process may have: every limit that was found. The least of them is what counts.
///
///     let limits = ProcessLimits.current()
///     print(limits.least.size, limits.least.place)
public struct ProcessLimits: Sendable, Equatable {
  /// All limits, the least first; equal ones with the innermost group first.
  public let limits: [MemoryLimit]

  /// The limit that is reached first. There always is one: where nothing is known, all that can be counted.
  public var least: MemoryLimit {
    limits.first ?? MemoryLimit(kind: .physical, size: .bytes(.max), place: "nothing is known")
  }

  /// Reads the limits as they are now. About 0.1 ms on Linux; may be called on any thread.
  ///
  /// Looked at are physical memory, the groups of both versions that the process is in with all their ancestors that can be
  /// seen, `RLIMIT_AS` and `RLIMIT_DATA`. A file that is missing or says `max` is no limit.
  ///
  /// - Parameter files: where to look; the running system by default.
  public static func current(_ files: SystemFiles = .system) -> ProcessLimits {
    let found = physical(files) + ControlGroup.all(files).flatMap { $0.limits(files) } + resources(files) + platform()
    // The sort must keep the order of equal ones, which the library's does not promise.
    let order = found.enumerated().sorted { ($0.element.size, $0.offset) < ($1.element.size, $1.offset) }
    return ProcessLimits(limits: order.map(\.element))
  }

  private static func physical(_ files: SystemFiles) -> [MemoryLimit] {
    if let kilobytes = files.text("/proc/meminfo").flatMap({ SystemFiles.number(after: "MemTotal:", in: $0) }) {
      return [MemoryLimit(kind: .physical, size: .kilobytes(kilobytes), place: "/proc/meminfo")]
    }
    let pages = mc_physical_pages()
    let (bytes, overflow) = pages.multipliedReportingOverflow(by: mc_page_size())
    guard pages > 0, !overflow else { return [] }
    return [MemoryLimit(kind: .physical, size: .bytes(bytes), place: "sysconf(_SC_PHYS_PAGES)")]
  }

  /// The soft limits. Read from the file and not by `getrlimit`, so that a test can say them.
  private static func resources(_ files: SystemFiles) -> [MemoryLimit] {
    guard let text = files.text("/proc/self/limits") else { return [] }
    return [(MemoryLimit.Kind.addressSpace, "Max address space"), (.data, "Max data size")].compactMap { kind, name in
      SystemFiles.number(after: name, in: text).map {
        MemoryLimit(kind: kind, size: .bytes($0), place: "/proc/self/limits: \(name)")
      }
    }
  }

  private static func platform() -> [MemoryLimit] {
    #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
      // Not run here. What is left and what is used make what may be used.
      let left = mc_app_memory_left()
      guard left > 0 else { return [] }
      return [MemoryLimit(kind: .app, size: .bytes(left + mc_app_memory_used()), place: "os_proc_available_memory()")]
    #else
      return AndroidHeap.limits
    #endif
  }
}

extension ControlGroup {
  /// From here on, version 1 means that there is no limit: it says the largest number of pages that it can count.
  private static let unlimited = 1 << 60

  /// The limits that this group sets.
  func limits(_ files: SystemFiles) -> [MemoryLimit] {
    switch version {
    case .v2:
      [limit(.groupMaximum, "memory.max", files), limit(.groupHigh, "memory.high", files)].compactMap { $0 }
    case .v1:
      // The second knows of ancestors that cannot be seen, too.
      [limit(.groupLimit, "memory.limit_in_bytes", files), hierarchicalLimit(files)].compactMap { $0 }
    }
  }

  private func limit(_ kind: MemoryLimit.Kind, _ name: String, _ files: SystemFiles) -> MemoryLimit? {
    let place = "\(directory)/\(name)"
    // The word `max` is no number, and so no limit.
    guard let bytes = files.number(place), bytes >= 0, bytes < Self.unlimited else { return nil }
    return MemoryLimit(kind: kind, size: .bytes(bytes), place: place)
  }

  private func hierarchicalLimit(_ files: SystemFiles) -> MemoryLimit? {
    let (place, name) = ("\(directory)/memory.stat", "hierarchical_memory_limit")
    guard let bytes = files.text(place).flatMap({ SystemFiles.number(after: name, in: $0) }), bytes < Self.unlimited
    else { return nil }
    return MemoryLimit(kind: .groupLimit, size: .bytes(bytes), place: "\(place): \(name)")
  }
}
