#if canImport(Darwin)
  import Darwin  // Not run here.
#elseif canImport(Android)
  import Android  // Not run here.
#elseif canImport(Musl)
  import Musl  // Not run here.
#else
  import Glibc
#endif

/// The sources that a system may have. Whether it has them is found out when they are started.
package enum SystemSources {
  /// A source for each way in which this kind of system tells of pressure.
  ///
  /// - Parameters:
  ///   - files: Where to look.
  ///   - environment: A variable's value.
  package static func all(
    files: SystemFiles = .system,
    environment: @escaping @Sendable (String) -> String? = { getenv($0).map { String(cString: $0) } }
  ) -> [any PressureSource] {
    #if canImport(Darwin)
      appleSources
    #else
      [
        PolledSource("cgroup") { () throws(PressureSourceError) in try GroupProbe(files) },
        PolledSource("psi-group") { () throws(PressureSourceError) in
          guard let group = ControlGroup.all(files).first(where: { $0.version == .v2 }) else {
            throw PressureSourceError("this process is in no control group of version 2")
          }
          return try StallProbe(files.path("\(group.directory)/memory.pressure"))
        },
        PolledSource("psi") { () throws(PressureSourceError) in
          try StallProbe(files.path("/proc/pressure/memory"))
        },
        PolledSource("systemd") { () throws(PressureSourceError) in try ServiceProbe.open(environment) },
        AndroidTrim.source,
      ]
    #endif
  }
}
