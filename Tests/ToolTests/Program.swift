import TestSupport

// Darwin and Musl are not run here.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The built programs, which lie beside the tests; `lifecards` unless another is named.
enum Program {
  /// What came of running it.
  struct Result {
    /// The exit code, or the number of the signal that ended the program, negated.
    var code: Int32
    var output: String { String(decoding: outputBytes, as: UTF8.self) }
    var outputBytes: [UInt8]
    var error: String
    /// All bytes that it wrote, to files or elsewhere; nil where the system does not count them.
    var writtenByteCount: Int?

    /// A number in the JSON that it printed.
    func number(_ name: String) -> Int? {
      output.split(separator: "\"\(name)\":").dropFirst().first.flatMap { Int($0.prefix { $0.isNumber }) }
    }
  }

  /// Where one of its streams leads.
  enum Stream {
    /// Into a file, which is read for the result.
    case captured
    case closed
    /// To what this descriptor of ours is open on.
    case descriptor(Int32)
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

  static var path: String { path(of: "lifecards") }

  /// Where a program of the package lies.
  static func path(of name: String) -> String { "\(directory)/\(name)" }

  /// Whether it is there; it is not where the tests run in another program.
  static var isBuilt: Bool { access(path, X_OK) == 0 }

  /// Runs the program to its end.
  static func run(_ arguments: [[UInt8]], output: Stream = .captured, error: Stream = .captured) -> Result {
    RunningProgram([Array(path.utf8)] + arguments, output: output, error: error).wait()
  }

  /// Runs another program to its end.
  static func run(program: String, _ arguments: [String]) -> Result {
    RunningProgram(([path(of: program)] + arguments).map { Array($0.utf8) }).wait()
  }

  static func run(_ arguments: String...) -> Result {
    run(arguments.map { Array($0.utf8) })
  }
}

/// A program that has been started.
struct RunningProgram {
  private let process: pid_t
  private let files = TemporaryDirectory()

  /// Starts the program whose path is the first of `words`.
  init(_ words: [[UInt8]], output: Program.Stream = .captured, error: Program.Stream = .captured) {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (stream, number, name) in [(output, STDOUT_FILENO, "output"), (error, STDERR_FILENO, "error")] {
      switch stream {
      case .captured: posix_spawn_file_actions_addopen(&actions, number, files.file(name), O_WRONLY | O_CREAT, 0o600)
      case .closed: posix_spawn_file_actions_addclose(&actions, number)
      case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, number)
      }
    }
    var strings = words.map { word in
      (word + [0]).withUnsafeBytes { bytes in bytes.withMemoryRebound(to: CChar.self) { strdup($0.baseAddress!) } }
    }
    strings.append(nil)
    defer { strings.forEach { free($0) } }
    var process: pid_t = 0
    precondition(posix_spawn(&process, strings[0]!, &actions, nil, strings, environ) == 0, "it cannot be run")
    self.process = process
  }

  func send(_ signal: Int32) {
    kill(process, signal)
  }

  func wait() -> Program.Result {
    // Ended, but not collected: the system still has its numbers.
    var information = siginfo_t()
    while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
    let numbers = String(decoding: readFile("/proc/\(process)/io") ?? [], as: UTF8.self)
    let written = numbers.split(separator: "\n").first { $0.hasPrefix("wchar: ") }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    let code = status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
    return Program.Result(
      code: code, outputBytes: readFile(files.file("output")) ?? [],
      error: String(decoding: readFile(files.file("error")) ?? [], as: UTF8.self),
      writtenByteCount: written.flatMap { Int($0.dropFirst(7)) })
  }
}
