// Darwin and Musl are not run here.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// How a program ends.
public enum ExitCode: Int32, Sendable {
  /// It did what it was asked to.
  case success = 0
  /// It could not; the reason is on standard error.
  case failure = 1
  /// It was not asked properly.
  case usage = 2
}

/// The standard streams, written without buffering, so that messages keep their order.
public enum Console {
  /// Opens those of the three standard streams that are closed, so that no file of the program gets their numbers, and
  /// with it what is meant for people. Call it before anything is opened.
  public static func openStreams() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) == -1 {
      // Each call gets the lowest number free, which is this one. For reading only: what is written there is an error.
      _ = open("/dev/null", O_RDONLY)
    }
  }

  /// Writes text to standard output; false if it could not all be written.
  @discardableResult
  public static func output(_ text: String) -> Bool {
    Array(text.utf8).withUnsafeBytes { output($0) }
  }

  /// Writes bytes to standard output; false if they could not all be written, with the reason in `errno`.
  public static func output(_ bytes: UnsafeRawBufferPointer) -> Bool {
    writeAll(bytes, to: STDOUT_FILENO)
  }

  /// Writes text to standard error.
  public static func error(_ text: String) {
    _ = Array(text.utf8).withUnsafeBytes { writeAll($0, to: STDERR_FILENO) }
  }

  /// The system's reason for what failed last on this thread.
  public static var lastReason: String { String(cString: strerror(errno)) }

  /// Whether somebody watches standard error on a terminal.
  public static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }

  /// Ends the process.
  public static func exit(_ code: ExitCode) -> Never {
    systemExit(code.rawValue)
  }

  private static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      let count = write(descriptor, rest.baseAddress, rest.count)
      if count > 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      } else if errno != EINTR {
        return false
      }
    }
    return true
  }
}

/// The system's `exit`, which a method of the same name would hide.
private func systemExit(_ code: Int32) -> Never {
  exit(code)
}

/// Whether two paths lead to the same existing file.
public func isSameFile(_ first: [UInt8], _ second: [UInt8]) -> Bool {
  guard let first = FileIdentity(first), let second = FileIdentity(second) else { return false }
  return first == second
}

/// What tells a file from all others, whatever paths lead to it.
public struct FileIdentity: Hashable {
  private let device: UInt64
  private let number: UInt64

  /// That of the file at `path`; nil where there is none.
  public init?(_ path: [UInt8]) {
    guard let status = fileStatus(path) else { return nil }
    (device, number) = (UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino))
  }
}

private func fileStatus(_ path: [UInt8]) -> stat? {
  var status = stat()
  let result = (path + [0]).withUnsafeBytes { bytes in
    bytes.withMemoryRebound(to: CChar.self) { stat($0.baseAddress!, &status) }
  }
  return result == 0 ? status : nil
}
