import TestSupport
import Testing

// Darwin and Musl are not run here.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// What goes where, and how the program is stopped.
@Suite(.enabled(if: Program.isBuilt, "the program has not been built beside the tests")) struct LifecardsStreamTests {
  let directory = TemporaryDirectory()
  private let document: String

  init() {
    document = directory.file("card.ora")
    #expect(Program.run("sample", document, "--layers=3", "--width=64", "--height=48").code == 0)
  }

  private func words(_ words: String...) -> [[UInt8]] { words.map { Array($0.utf8) } }

  @Test func aDashSendsThePictureToStandardOutput() {
    let path = directory.file("card.png")
    #expect(Program.run("render", document, path).code == 0)
    let plain = Program.run("render", document, "-")
    #expect(plain.code == 0 && plain.outputBytes == readFile(path))
    #expect(plain.error.hasPrefix("standard output: 64 x 48"))
    let json = Program.run("render", document, "-", "--json")
    #expect(json.code == 0 && json.outputBytes == readFile(path))
    #expect(json.error.hasPrefix("{\"output\":\"standard output\",") && json.error.hasSuffix("}\n"))
    #expect(directory.fileNames == ["card.ora", "card.png"])
  }

  @Test func whoStopsReadingStopsTheProgramQuietly() {
    // Not `pipe`: a program that another test starts meanwhile would keep open the end that is closed here.
    let fifo = directory.file("fifo")
    #expect(mkfifo(fifo, 0o600) == 0)
    let reader = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    let writer = open(fifo, O_WRONLY | O_CLOEXEC)
    close(reader)
    defer { close(writer) }
    let result = Program.run(words("render", document, "-"), output: .descriptor(writer))
    #expect(result.code == -SIGPIPE && result.error.isEmpty, "\(result.code) \(result.error)")
    #expect(directory.fileNames == ["card.ora", "fifo"])
  }

  @Test func closedStreamsDoNotEndUpInThePicture() {
    let (open, closed) = (directory.file("open.png"), directory.file("closed.png"))
    #expect(Program.run("render", document, open).code == 0)
    let result = Program.run(words("render", document, closed), output: .closed)
    #expect(result.code == 1 && result.error.contains("standard output: cannot be written"), "\(result.error)")
    #expect(Program.run(words("render", document, closed), output: .closed, error: .closed).code == 1)
    #expect(readFile(closed) == readFile(open))
  }

  @Test func progressIsShownOnATerminalOnly() throws {
    let terminal = try #require(Terminal())
    let path = directory.file("card.png")
    let shown = Program.run(words("render", document, path), error: .descriptor(terminal.slave))
    #expect(shown.code == 0 && shown.output.contains("64 x 48"))
    let text = terminal.readAll()
    #expect(text.contains("\rcomposing ") && text.contains(" %") && text.hasSuffix("\r\u{1b}[K"), "\(text)")
    #expect(Program.run("render", document, path).error.isEmpty)
  }

  /// Starts to render, and returns when there is an unfinished file and the program cannot go on, because the terminal
  /// that it shows its progress on is full.
  private func startAndHold(_ terminal: Terminal, _ command: [[UInt8]]) -> RunningProgram {
    terminal.fill()
    let program = RunningProgram(command, output: .captured, error: .descriptor(terminal.slave))
    while !directory.fileNames.contains(where: { $0.hasPrefix(".memchunk-") }) { usleep(1_000) }
    return program
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
  func aSignalRemovesTheUnfinishedFileAndEndsTheProgram(signal: Int32) throws {
    let terminal = try #require(Terminal())
    let path = directory.file("card.png")
    writeFile(path, [1, 2, 3])
    let program = startAndHold(terminal, words(Program.path, "render", document, path))
    program.send(signal)
    #expect(program.wait().code == -signal)
    #expect(directory.fileNames == ["card.ora", "card.png"] && readFile(path) == [1, 2, 3])
  }

  @Test func aSignalThatTheParentIgnoresIsIgnored() throws {
    let terminal = try #require(Terminal())
    let script = "trap '' HUP; exec \"$0\" \"$@\""
    let program = startAndHold(
      terminal, words("/bin/sh", "-c", script, Program.path, "render", document, directory.file("card.png")))
    program.send(SIGHUP)
    program.send(SIGTERM)
    #expect(program.wait().code == -SIGTERM)
    #expect(directory.fileNames == ["card.ora"])
  }
}

/// A terminal of our own; what is written to `slave` is read from the other side.
private final class Terminal {
  private let master: Int32
  let slave: Int32

  init?() {
    var (master, slave): (Int32, Int32) = (-1, -1)
    guard openpty(&master, &slave, nil, nil, nil) == 0 else { return nil }
    (self.master, self.slave) = (master, slave)
  }

  deinit {
    close(slave)
    close(master)
  }

  /// Writes until the next to write has to wait.
  func fill() {
    // The flag belongs to what is open, which the program shares; it must find it as it was.
    let flags = fcntl(slave, F_GETFL)
    _ = fcntl(slave, F_SETFL, flags | O_NONBLOCK)
    while write(slave, "x", 1) == 1 {}
    _ = fcntl(slave, F_SETFL, flags)
  }

  /// All that has been written and not read yet.
  func readAll() -> String {
    _ = fcntl(master, F_SETFL, fcntl(master, F_GETFL) | O_NONBLOCK)
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = read(master, &piece, piece.count)
      guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
      bytes += piece[..<count]
    }
  }
}
