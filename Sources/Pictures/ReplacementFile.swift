// Darwin and Musl are not run here.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file that takes its place only when it is whole.
///
/// Bytes go to a new file beside the target, on the same file system, which `commit()` renames over it. Until then the
/// target is as it was, and a reader never sees half a picture. A replacement that is dropped uncommitted removes its
/// file. A symbolic link is followed and stays a link; an existing file passes its mode on, a new one gets the umask's.
public final class ReplacementFile: PictureSink {
  /// The path asked for, as text.
  public let name: String
  private let target: BytePath
  private let temporary: BytePath
  private let unfinished: UnfinishedFiles
  private var descriptor: Int32

  /// Where the bytes are that have been written so far.
  package var unfinishedPath: BytePath { temporary }

  /// Makes the file that is to replace `path`.
  ///
  /// - Throws: `PictureError.cannotWrite` when `path` is something other than a file, its directory refuses, or
  ///   `abandonAll()` has been called.
  public convenience init(replacing path: BytePath) throws(PictureError) {
    try self.init(replacing: path, among: Self.ofProgram)
  }

  /// Makes the file that is to replace `path`, to be abandoned with others than those of the whole program.
  package init(replacing path: BytePath, among unfinished: UnfinishedFiles) throws(PictureError) {
    self.unfinished = unfinished
    name = path.description
    let existing = try Self.existingFile(at: path)
    target = existing?.path ?? path
    let target = target
    (temporary, descriptor) = try unfinished.make(reportedAs: name) { () throws(PictureError) in
      try Self.create(beside: target, reportedAs: path)
    }
    if let mode = existing?.mode {
      fchmod(descriptor, mode)
    }
  }

  deinit {
    guard descriptor >= 0 else { return }
    close(descriptor)
    unfinished.drop(temporary)
  }

  private static let ofProgram = UnfinishedFiles()

  /// Removes the files of all replacements that are not committed, because the program is about to end.
  ///
  /// From then on no replacement is made or committed in this program: both throw. Any thread may call it, but not a
  /// signal handler: it takes a lock, and waits for a rename or the making of a file that another thread is in.
  public static func abandonAll() {
    ofProgram.abandon()
  }

  /// Appends all the bytes of `buffer` to the file.
  ///
  /// - Throws: `PictureError.cannotWrite` with the system's reason, for example that the disk is full.
  public func write(_ buffer: UnsafeRawBufferPointer) throws {
    var rest = buffer
    while !rest.isEmpty {
      let count = systemWrite(descriptor, rest.baseAddress, rest.count)
      if count > 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      } else if errno != EINTR {
        throw PictureError.cannotWrite(file: name, reason: systemReason())
      }
    }
  }

  /// Writes over bytes that are in the file, or that end where it ends, for formats whose beginnings hold sizes.
  ///
  /// - Throws: As `write(_:)`.
  package func write(_ buffer: UnsafeRawBufferPointer, at offset: Int) throws {
    var written = 0
    while written < buffer.count {
      let count = pwrite(descriptor, buffer.baseAddress! + written, buffer.count - written, off_t(offset + written))
      if count > 0 {
        written += count
      } else if errno != EINTR {
        throw PictureError.cannotWrite(file: name, reason: systemReason())
      }
    }
  }

  /// Makes the bytes safe on the disk and puts the file in the target's place.
  ///
  /// - Precondition: Not committed before.
  /// - Throws: `PictureError.cannotWrite`, also after `abandonAll()`; the target is then as it was.
  public func commit() throws(PictureError) {
    precondition(descriptor >= 0, "a replacement is committed once")
    guard fsync(descriptor) == 0, try unfinished.place(temporary, at: target, reportedAs: name) else {
      throw .cannotWrite(file: name, reason: systemReason())
    }
    close(descriptor)
    descriptor = -1
  }
}

extension ReplacementFile {
  /// The file behind `path` with its links resolved, and its permissions; nil when there is none.
  private static func existingFile(at path: BytePath) throws(PictureError) -> (path: BytePath, mode: mode_t)? {
    var status = stat()
    if path.bytes.isEmpty { throw .cannotWrite(file: "\"\"", reason: "the name is empty; give the name of a file") }
    if path.withCString({ stat($0, &status) }) != 0 {
      let (isMissing, reason) = (errno == ENOENT, systemReason())
      let isLink = path.withCString { lstat($0, &status) } == 0
      guard isMissing, !isLink else {
        let hint = isLink ? "; is it a link that leads nowhere?" : ""
        throw .cannotWrite(file: path.description, reason: reason + hint)
      }
      return nil
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw .cannotWrite(file: path.description, reason: "it is not a file; give the name of a file")
    }
    guard path.withCString({ access($0, W_OK) }) == 0, let resolved = path.withCString({ realpath($0, nil) }) else {
      throw .cannotWrite(file: path.description, reason: systemReason())
    }
    defer { free(resolved) }
    let bytes = UnsafeRawBufferPointer(start: resolved, count: strlen(resolved))
    return (BytePath(bytes: Array(bytes)), status.st_mode & 0o777)
  }

  /// Makes a new empty file in the directory of `target`, under a name that nobody else has.
  private static func create(
    beside target: BytePath, reportedAs path: BytePath
  ) throws(PictureError) -> (path: BytePath, descriptor: Int32) {
    let directory = target.bytes.lastIndex(of: UInt8(ascii: "/")).map { target.bytes[...$0] } ?? []
    while true {
      // Not the target's name with a suffix: that could be longer than a name may be.
      let suffix = String(UInt64.random(in: .min ... .max), radix: 36)
      let temporary = BytePath(bytes: Array(directory) + ".memchunk-\(suffix)".utf8)
      let descriptor = temporary.withCString { open($0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666) }
      if descriptor >= 0 { return (temporary, descriptor) }
      if errno != EEXIST {
        throw .cannotWrite(
          file: path.description, reason: "no new file can be made in its directory: \(systemReason())")
      }
    }
  }
}

/// The system's `write`, which a method of the same name would hide.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, bytes, count)
}
