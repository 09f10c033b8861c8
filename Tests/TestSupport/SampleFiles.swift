// Darwin and Musl are not run here.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Files by other programs, which are not part of the project; tests that want them skip when they are absent.
public enum SampleFiles {
  /// `samples` in the folder that `MEMCHUNK_SHARED` names, or in `../shared` beside the package.
  public static let directory: String = {
    if let named = getenv("MEMCHUNK_SHARED") { return String(cString: named) + "/samples" }
    let package = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    return "/\(package)/../shared/samples"
  }()

  /// Whether they are there.
  public static var areThere: Bool { access(directory, R_OK) == 0 }

  /// The path of a sample, for example `png/basn2c08.png`.
  public static func path(_ name: String) -> String { "\(directory)/\(name)" }
}
