import MemChunks

#if canImport(Darwin)
  import Darwin  // Not run here.
#elseif canImport(Android)
  import Android  // Not run here.
#elseif canImport(Musl)
  import Musl  // Not run here.
#else
  import Glibc
#endif

/// What systemd tells a service: `MEMORY_PRESSURE_WATCH` names a file, `MEMORY_PRESSURE_WRITE` what to write there first, in
/// base 64 (systemd's document "Memory Pressure Handling").
///
/// A regular file is a PSI file of the kernel's; a FIFO or a socket is read when somebody has written to it.
package enum ServiceProbe {
  static func open(_ environment: (String) -> String?) throws(PressureSourceError) -> any Probe {
    guard let path = environment("MEMORY_PRESSURE_WATCH") else {
      throw PressureSourceError("MEMORY_PRESSURE_WATCH is not set")
    }
    guard path != "/dev/null" else { throw PressureSourceError("MEMORY_PRESSURE_WATCH says /dev/null: not wanted") }
    guard path.hasPrefix("/") else { throw PressureSourceError("MEMORY_PRESSURE_WATCH: \(path) is no absolute path") }
    let written: [UInt8]?
    if let text = environment("MEMORY_PRESSURE_WRITE") {
      guard let bytes = bytes(base64: text) else { throw PressureSourceError("MEMORY_PRESSURE_WRITE is not base 64") }
      written = bytes
    } else {
      written = nil
    }
    var status = stat()
    guard stat(path, &status) == 0 else { throw PressureSourceError("\(path): \(Descriptor.lastReason)") }
    switch status.st_mode & S_IFMT {
    case S_IFREG: return try StallProbe(path, trigger: written)
    // Open for writing as well, so that it is not at its end when no writer is there.
    case S_IFIFO: return try MessageProbe(path, Descriptor(opening: path, O_RDWR | O_NONBLOCK), written)
    case S_IFSOCK: return try MessageProbe(path, connection(to: path), written)
    default: throw PressureSourceError("\(path) is neither a file nor a FIFO nor a socket")
    }
  }

  private static func connection(to path: String) -> Descriptor? {
    #if canImport(Glibc)
      let kind = Int32(SOCK_STREAM.rawValue)
    #else
      let kind = SOCK_STREAM
    #endif
    guard let socket = Descriptor(owning: socket(AF_UNIX, kind, 0)) else { return nil }
    _ = fcntl(socket.number, F_SETFD, FD_CLOEXEC)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let name = Array(path.utf8) + [0]
    guard name.count <= MemoryLayout.size(ofValue: address.sun_path) else {
      errno = ENAMETOOLONG
      return nil
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    let length = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = withUnsafeBytes(of: &address) { bytes in
      bytes.withMemoryRebound(to: sockaddr.self) { connect(socket.number, $0.baseAddress, length) }
    }
    guard result == 0 else { return nil }
    _ = fcntl(socket.number, F_SETFL, O_NONBLOCK)
    return socket
  }

  /// Bytes in base 64 (RFC 4648), with or without the padding; nil for what is none.
  package static func bytes(base64 text: String) -> [UInt8]? {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var bytes: [UInt8] = []
    var (bits, count) = (0, 0)
    let padding = text.utf8.reversed().prefix { $0 == UInt8(ascii: "=") }.count
    guard padding <= 2, text.utf8.count % 4 == 0 || padding == 0, (text.utf8.count - padding) % 4 != 1
    else { return nil }
    for character in text.utf8.dropLast(padding) {
      guard let digit = digits.firstIndex(of: character) else { return nil }
      bits = (bits << 6 | digit) & 0xffff
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> count))
      }
    }
    return bytes
  }
}

/// Any bytes in a FIFO or socket mean that memory is short.
private final class MessageProbe: Probe {
  /// How long that is taken for true: the manager repeats itself while it is so, at most once in two seconds.
  private static let duration = Duration.seconds(5)

  let place: String
  let descriptor: Descriptor?
  let events = Int(POLLIN)

  init(_ path: String, _ file: Descriptor?, _ written: [UInt8]?) throws(PressureSourceError) {
    guard let file else { throw PressureSourceError("\(path): \(Descriptor.lastReason)") }
    if let written, !written.isEmpty, !file.write(written) {
      throw PressureSourceError("\(path) cannot be written to: \(Descriptor.lastReason)")
    }
    (place, descriptor) = (path, file)
  }

  func look(isReady: Bool) -> (signal: PressureSignal?, next: Duration?) {
    guard isReady else { return (nil, nil) }
    descriptor?.drain()
    return (PressureSignal(.warning, lasting: Self.duration), nil)
  }
}
