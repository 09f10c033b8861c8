/// The lines of `/proc/self/mountinfo` that tell where control groups are mounted (proc(5)).
struct MountTable {
  struct Mount: Equatable {
    /// Which directory of the file system is mounted.
    var root: String
    /// Where.
    var point: String
    /// The file system: `cgroup` or `cgroup2`.
    var kind: String
    /// Options of the file system as a whole, for `cgroup` the controllers.
    var options: [String]
  }

  private(set) var mounts: [Mount] = []

  init(_ text: String) {
    for line in text.split(whereSeparator: \.isNewline) {
      let fields = line.split(separator: " ")
      // Optional fields stand before the dash, and there may be any number of them.
      guard fields.count > 6, let dash = fields[6...].firstIndex(of: "-"), dash + 3 < fields.count else { continue }
      let mount = Mount(
        root: Self.unescaped(fields[3]), point: Self.unescaped(fields[4]), kind: String(fields[dash + 1]),
        options: fields[dash + 3].split(separator: ",").map(String.init))
      // What is mounted later at the same place hides what lay there, whatever it is.
      mounts.removeAll { $0.point == mount.point }
      mounts.append(mount)
    }
  }

  /// Spaces, tabs, line ends and backslashes stand as three octal digits.
  static func unescaped(_ field: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = Array(field.utf8)[...]
    while let byte = rest.popFirst() {
      let digits = rest.prefix(3)
      if byte == UInt8(ascii: "\\"), digits.count == 3,
        let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
      {
        bytes.append(code)
        rest = rest.dropFirst(3)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
