internal import Pictures

// Darwin and Musl are not run here.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The file that an archive is read from: one descriptor, whatever the number of layers and threads.
///
/// Every read says where, so that threads share no position and need no lock. That is why a document of a thousand
/// layers takes one open file, and opens where only few may be.
final class ArchiveFile: Sendable {
  /// The path as text, as errors give it.
  let name: String
  private let path: BytePath
  private let descriptor: Int32
  private let identity: FileIdentity
  /// Whether we are writing to it ourselves, behind what is read.
  private let isUnfinished: Bool

  /// The file's length in bytes.
  var byteCount: Int { identity.byteCount }

  /// Opens the file at `path`.
  convenience init(_ path: BytePath) throws(CardError) {
    try self.init(path, name: path.description, isUnfinished: false)
  }

  /// Opens a file that is still being written; errors call it by `name`, which it will have.
  convenience init(unfinished path: BytePath, name: String) throws(CardError) {
    try self.init(path, name: name, isUnfinished: true)
  }

  private init(_ path: BytePath, name: String, isUnfinished: Bool) throws(CardError) {
    self.name = name
    self.path = path
    self.isUnfinished = isUnfinished
    // Not blocking: a pipe would wait for somebody who writes to it.
    descriptor = path.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
    guard descriptor >= 0, let identity = FileIdentity(descriptor: descriptor) else {
      let reason = systemReason()
      if descriptor >= 0 { close(descriptor) }
      throw .cannotOpen(file: name, reason: reason)
    }
    self.identity = identity
    // From here on `deinit` closes it.
    guard identity.isRegular else {
      throw .cannotOpen(file: name, reason: "it is a directory or a device, not a file")
    }
    guard identity.byteCount > 0 else { throw .cannotOpen(file: name, reason: "the file is empty") }
  }

  deinit {
    close(descriptor)
  }

  /// Copies bytes from `offset` on into `buffer` and returns how many: fewer than asked for only at the end of the file.
  ///
  /// - Throws: `CardError.cannotRead` with the system's reason.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(CardError) -> Int {
    var filled = 0
    while filled < buffer.count {
      let count = pread(descriptor, buffer.baseAddress! + filled, buffer.count - filled, off_t(offset + filled))
      if count == 0 { break }
      if count > 0 {
        filled += count
      } else if errno != EINTR {
        throw .cannotRead(file: name, reason: systemReason())
      }
    }
    return filled
  }

  /// Makes sure that the file is as it was when it was opened, and still the one that its path leads to.
  ///
  /// Another file in its place counts as a change too: what was rendered would not be what is there.
  ///
  /// - Throws: `CardError.changed`.
  func checkUnchanged() throws(CardError) {
    if isUnfinished { return }
    guard FileIdentity(descriptor: descriptor) == identity, FileIdentity(path: path) == identity else {
      throw .changed(file: name)
    }
  }
}

/// What the system says about the call that has just failed on this thread.
func systemReason() -> String {
  String(cString: strerror(errno))
}
