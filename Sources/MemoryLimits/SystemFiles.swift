#if canImport(Darwin)
  import Darwin  // Not run here.
#elseif canImport(Android)
  import Android  // Not run here.
#elseif canImport(Musl)
  import Musl  // Not run here.
#else
  import Glibc
#endif

/// The files in which the system says how much memory there is.
///
/// All paths begin at a root, so that a test can build a tree of its own and a tool can look into another system's.
public struct SystemFiles: Sendable {
  /// The files of this system.
  public static let system = SystemFiles(root: "")

  private let root: String

  /// The files beneath a directory; for example `/proc/meminfo` is looked for as `ROOT/proc/meminfo`.
  public init(root: String) {
    self.root = root
  }

  /// The path by which the system finds the file.
  func path(_ path: String) -> String { root + path }

  /// The text of a file; nil where it is not there or cannot be read. What is not UTF-8 is replaced.
  func text(_ path: String) -> String? {
    guard let file = Descriptor(opening: self.path(path), O_RDONLY) else { return nil }
    return file.text()
  }

  /// The one whole number that a file consists of; nil where it holds something else.
  func number(_ path: String) -> Int? {
    text(path).flatMap { Int($0.drop(while: \.isWhitespace).prefix { !$0.isWhitespace }) }
  }

  /// The number that follows `name` at the start of a line, as in `MemTotal:  1234 kB` or `total_rss 1234`.
  ///
  /// The first number is taken, whatever its unit; nil where no line says one.
  static func number(after name: String, in text: String) -> Int? {
    for line in text.split(whereSeparator: \.isNewline) where line.hasPrefix(name) {
      let rest = line.dropFirst(name.count)
      guard rest.first.map({ $0.isWhitespace }) == true else { continue }
      return rest.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) }
    }
    return nil
  }
}
