// Darwin and Musl are not run here.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The most memory that this process has had resident so far, in bytes; nil where the system does not say.
///
/// Read from `VmHWM` in `/proc/self/status`. `getrusage` is no substitute: a child starts with its parent's size.
public func peakResidentByteCount() -> Int? {
  guard let file = fopen("/proc/self/status", "re") else { return nil }
  defer { fclose(file) }
  var bytes = [UInt8](repeating: 0, count: 4_096)
  let count = fread(&bytes, 1, bytes.count, file)
  let lines = String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n")
  guard let line = lines.first(where: { $0.hasPrefix("VmHWM:") }) else { return nil }
  // The line reads "VmHWM:     12345 kB".
  return Int(line.filter(\.isNumber)).map { $0 << 10 }
}
