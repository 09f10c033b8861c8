#if canImport(Darwin)
  import Darwin  // Not run here.
#elseif canImport(Android)
  import Android  // Not run here.
#elseif canImport(Musl)
  import Musl  // Not run here.
#else
  import Glibc
#endif

/// An open file, closed when the last reference goes: so none leaks, and none is closed while a thread waits for it.
final class Descriptor: Sendable {
  let number: Int32

  /// Takes over an open file; nil for a number that says that opening failed.
  init?(owning number: Int32) {
    guard number >= 0 else { return nil }
    self.number = number
  }

  /// Opens a file that no child process inherits; nil where that fails, with the reason in `errno`.
  convenience init?(opening path: String, _ flags: Int32) {
    self.init(owning: open(path, flags | O_CLOEXEC))
  }

  deinit { close(number) }

  /// Writes bytes at once; false where the file takes fewer, with the reason in `errno`.
  func write(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { write(number, $0.baseAddress, $0.count) } == bytes.count
  }

  /// Reads from where the file stands to its end.
  func text() -> String? {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = read(number, &piece, piece.count)
      if count < 0 { return nil }
      if count == 0 { return String(decoding: bytes, as: UTF8.self) }
      bytes += piece[..<count]
    }
  }

  /// Takes what lies ready in a pipe, a socket or an event counter that does not block.
  func drain() {
    var piece = [UInt8](repeating: 0, count: 512)
    while read(number, &piece, piece.count) > 0 {}
  }

  private func write(_ number: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    while true {
      let written = systemWrite(number, bytes, count)
      if written >= 0 || errno != EINTR { return written }
    }
  }

  /// Why the call before failed, in the system's words.
  static var lastReason: String { String(cString: strerror(errno)) }
}

/// The system's `write`, which a method of the same name would hide.
private func systemWrite(_ number: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(number, bytes, count)
}
