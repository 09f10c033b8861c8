// Darwin, Android and Musl are not run here.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file that is being written.
final class OutputFile {
  private let descriptor: Int32
  private let path: String

  init(_ path: String) throws(TraceError) {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw .cannotWrite(file: path, reason: String(cString: strerror(errno))) }
  }

  deinit { close(descriptor) }

  /// Writes all of it.
  func write(_ bytes: [UInt8]) throws(TraceError) {
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress! + written, $0.count - written) }
      if count > 0 {
        written += count
      } else if errno != EINTR {
        throw .cannotWrite(file: path, reason: String(cString: strerror(errno)))
      }
    }
  }
}

/// Has a file contain these bytes, all of them or none: it takes its place only when it is whole.
///
/// - Throws: `TraceError.cannotWrite`; then the file is as it was.
package func replaceFile(_ path: String, with bytes: [UInt8]) throws(TraceError) {
  let unfinished = "\(path).\(getpid()).unfinished"
  do throws(TraceError) {
    try OutputFile(unfinished).write(bytes)
    guard rename(unfinished, path) == 0 else {
      throw .cannotWrite(file: path, reason: String(cString: strerror(errno)))
    }
  } catch {
    unlink(unfinished)
    guard case .cannotWrite(_, let reason) = error else { throw error }
    throw .cannotWrite(file: path, reason: reason)
  }
}

/// The system's `write`, which a method of the same name hides.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
  write(descriptor, bytes, count)
}

/// All bytes of a file.
func readBytes(_ path: String) throws(TraceError) -> [UInt8] {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { throw .cannotRead(file: path, reason: String(cString: strerror(errno))) }
  defer { close(descriptor) }
  var bytes: [UInt8] = []
  var part = [UInt8](repeating: 0, count: 1 << 18)
  while true {
    let count = read(descriptor, &part, part.count)
    if count > 0 {
      bytes += part[..<count]
    } else if count == 0 {
      return bytes
    } else if errno != EINTR {
      throw .cannotRead(file: path, reason: String(cString: strerror(errno)))
    }
  }
}
