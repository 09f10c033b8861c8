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
  /// Writes text to standard output; false if it could not all be written.
  @discardableResult
  public static func output(_ text: String) -> Bool {
    writeAll(text, to: STDOUT_FILENO)
  }

  /// Writes text to standard error.
  public static func error(_ text: String) {
    _ = writeAll(text, to: STDERR_FILENO)
  }

  /// Whether somebody watches standard error on a terminal.
  public static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }

  /// Ends the process.
  public static func exit(_ code: ExitCode) -> Never {
    systemExit(code.rawValue)
  }

  private static func writeAll(_ text: String, to descriptor: Int32) -> Bool {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
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
  guard let first = fileStatus(first), let second = fileStatus(second) else { return false }
  return first.st_dev == second.st_dev && first.st_ino == second.st_ino
}

private func fileStatus(_ path: [UInt8]) -> stat? {
  var status = stat()
  let result = (path + [0]).withUnsafeBytes { bytes in
    bytes.withMemoryRebound(to: CChar.self) { stat($0.baseAddress!, &status) }
  }
  return result == 0 ? status : nil
}
