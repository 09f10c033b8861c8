import ChunkTrace
import TestSupport

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Public traces, which are not part of the project; tests that want them skip when they are absent.
enum SharedTraces {
  /// `traces` beside the samples of other programs.
  static let directory = SampleFiles.directory.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/traces"

  static let images = load("apache_semicomplete_images.csv")
  static let blocks = load("cachelib_block1.csv")
  /// Packed: read with the program `xz`.
  static let units = load("mooncake_synthetic.csv.xz")

  private static func load(_ name: String) -> Trace? {
    let path = "\(directory)/\(name)"
    guard access(path, R_OK) == 0 else { return nil }
    guard name.hasSuffix(".xz") else {
      return readFile(path).flatMap { try? Trace(csv: $0, file: name) }
    }
    guard let pipe = popen("xz -dc '\(path)' 2>/dev/null", "r") else { return nil }
    defer { pclose(pipe) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = fread(&part, 1, part.count, pipe), count > 0 { bytes += part[..<count] }
    return try? Trace(csv: bytes, file: name)
  }
}
