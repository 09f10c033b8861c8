// Darwin and Musl are not run here.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file as a source of compressed bytes.
///
/// Reads through a buffer of the C library's (4 KB); the file is never mapped, because mapped pages count as resident.
public final class FileSource: PictureSource {
  /// The path as text.
  public let name: String
  private let file: UnsafeMutablePointer<FILE>

  /// Opens the file at `path` for reading.
  ///
  /// - Throws: `PictureError.cannotOpen` with the system's reason, or for what is no file, as a pipe or a directory.
  public init(_ path: BytePath) throws(PictureError) {
    name = path.description
    // Not blocking: a pipe would wait for somebody who writes to it.
    let descriptor = path.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
    guard descriptor >= 0, let file = fdopen(descriptor, "rb") else {
      let reason = systemReason()
      if descriptor >= 0 { close(descriptor) }
      throw .cannotOpen(file: path.description, reason: reason)
    }
    self.file = file
    // From here on `deinit` closes it.
    guard byteCount != nil else {
      throw .cannotOpen(file: name, reason: "it is a directory or a device, not a file")
    }
  }

  deinit {
    fclose(file)
  }

  /// Copies the next bytes of the file into `buffer` and returns how many there were, zero at the end.
  ///
  /// - Throws: `PictureError.cannotRead` with the system's reason.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    let count = fread(buffer.baseAddress, 1, buffer.count, file)
    if count < buffer.count, ferror(file) != 0 {
      throw PictureError.cannotRead(file: name, reason: systemReason())
    }
    return count
  }
}

extension FileSource: PositionedSource {
  /// The size of the file; nil where the system does not say.
  public var byteCount: Int? {
    var status = stat()
    guard fstat(fileno(file), &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int(status.st_size)
  }

  /// Copies bytes of the file from `offset` on into `buffer`, without moving where `read(into:)` is.
  ///
  /// - Throws: `PictureError.cannotRead` with the system's reason.
  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws -> Int {
    while true {
      let count = pread(fileno(file), buffer.baseAddress, buffer.count, off_t(offset))
      if count >= 0 { return count }
      if errno != EINTR { throw PictureError.cannotRead(file: name, reason: systemReason()) }
    }
  }
}

/// What the system says about the call that has just failed on this thread.
func systemReason() -> String {
  String(cString: strerror(errno))
}
