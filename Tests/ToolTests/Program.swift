import TestSupport

// Darwin and Musl are not run here.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The built program `lifecards`, which lies beside the tests.
enum Program {
  struct Result {
    var code: Int32
    var output: String
    var error: String
  }

  /// The directory that the tests were built into.
  private static let directory: String = {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let count = buffer.withUnsafeMutableBytes { bytes in
      bytes.withMemoryRebound(to: CChar.self) { readlink("/proc/self/exe", $0.baseAddress!, $0.count) }
    }
    let path = String(decoding: buffer[..<max(0, count)], as: UTF8.self)
    return path.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
  }()

  static var path: String { "\(directory)/lifecards" }

  /// Whether it is there; it is not where the tests run in another program.
  static var isBuilt: Bool { access(path, X_OK) == 0 }

  /// Runs the program to its end; what it writes goes through files in a directory of its own.
  static func run(_ arguments: [[UInt8]]) -> Result {
    let directory = TemporaryDirectory()
    let (output, error) = (directory.file("output"), directory.file("error"))
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT, 0o600)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, error, O_WRONLY | O_CREAT, 0o600)
    var words = ([Array(path.utf8)] + arguments).map { word in
      (word + [0]).withUnsafeBytes { bytes in bytes.withMemoryRebound(to: CChar.self) { strdup($0.baseAddress!) } }
    }
    words.append(nil)
    defer { words.forEach { free($0) } }
    var process: pid_t = 0
    precondition(posix_spawn(&process, path, &actions, nil, words, environ) == 0, "\(path) cannot be run")
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    // The exit code where the process exited, the negative signal where it was killed.
    let code = status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
    func text(_ path: String) -> String { String(decoding: readFile(path) ?? [], as: UTF8.self) }
    return Result(code: code, output: text(output), error: text(error))
  }

  static func run(_ arguments: String...) -> Result {
    run(arguments.map { Array($0.utf8) })
  }
}
