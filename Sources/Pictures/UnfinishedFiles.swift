internal import Synchronization

// Darwin and Musl are not run here.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The files of replacements that are not in their place yet, so that a program that is told to end can remove them.
///
/// The lock is held while a file is made or renamed: whoever removes all so finds every file that there is, and none
/// comes after.
package final class UnfinishedFiles: Sendable {
  private struct State {
    var paths: Set<BytePath> = []
    var isAbandoned = false
  }

  private let state = Mutex(State())

  /// Begins with no file.
  package init() {}

  /// Makes a file and remembers it, unless all have been abandoned.
  func make(
    reportedAs name: String, _ create: () throws(PictureError) -> (path: BytePath, descriptor: Int32)
  ) throws(PictureError) -> (path: BytePath, descriptor: Int32) {
    try state.withLock { state throws(PictureError) in
      if state.isAbandoned { throw Self.isEnding(name) }
      let made = try create()
      state.paths.insert(made.path)
      return made
    }
  }

  /// Puts a file in its place and forgets it; false where the system refused.
  func place(_ path: BytePath, at target: BytePath, reportedAs name: String) throws(PictureError) -> Bool {
    try state.withLock { state throws(PictureError) in
      if state.isAbandoned { throw Self.isEnding(name) }
      guard path.withCString({ old in target.withCString { new in rename(old, new) } }) == 0 else { return false }
      state.paths.remove(path)
      return true
    }
  }

  /// Removes a file that is not to be placed.
  func drop(_ path: BytePath) {
    state.withLock { state in
      guard state.paths.remove(path) != nil else { return }
      _ = path.withCString(unlink)
    }
  }

  /// Removes all files; none is made or placed any more.
  package func abandon() {
    state.withLock { state in
      state.isAbandoned = true
      for path in state.paths { _ = path.withCString(unlink) }
      state.paths = []
    }
  }

  private static func isEnding(_ name: String) -> PictureError {
    .cannotWrite(file: name, reason: "the program is ending")
  }
}
