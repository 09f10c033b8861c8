import Testing

/// The program `memchunk` as a whole: what it answers, and how it ends.
@Suite(.enabled(if: Program.isBuilt, "the program is not beside the tests"))
struct MemchunkTests {
  private func run(_ arguments: String...) -> Program.Result {
    RunningProgram(([Program.path(of: "memchunk")] + arguments).map { Array($0.utf8) }).wait()
  }

  @Test func helpNamesEveryCommandAndEachHasItsOwn() {
    let help = run("--help")
    #expect(help.code == 0 && help.error.isEmpty)
    #expect(help.output.contains("  doctor ") && help.output.contains("examples:"))
    #expect(run("doctor", "--help").output.contains("memchunk doctor --json"))
    #expect(run("--version").output.hasPrefix("memchunk "))
  }

  @Test(arguments: [[], ["nonsense"], ["doctor", "operand"], ["doctor", "--nonsense"], ["doctor", "--json=1"]])
  func aWrongCommandLineIsAnErrorOfItsOwn(arguments: [String]) {
    let words = ([Program.path(of: "memchunk")] + arguments).map { Array($0.utf8) }
    let result = RunningProgram(words).wait()
    #expect(result.code == 2 && result.output.isEmpty)
    #expect(result.error.contains("memchunk: ") && result.error.contains("memchunk --help"))
  }

  @Test func theDoctorSaysTheLimitWhatThereIsAndEverySource() throws {
    let result = run("doctor")
    #expect(result.code == 0 && result.error.isEmpty)
    #expect(result.output.contains("\n* ") && result.output.contains("\n  resident "))
    for source in ["cgroup", "psi-group", "psi", "systemd", "android"] {
      #expect(result.output.contains("\n  \(source) "), "\(source)")
    }
    #expect(!result.output.contains(" \n"))
  }

  @Test func theDoctorsNumbersAreForScripts() throws {
    let result = run("doctor", "--json")
    #expect(result.code == 0)
    let limit = try #require(result.number("limitBytes")), resident = try #require(result.number("residentBytes"))
    #expect(limit > resident && resident > 1 << 20)
    #expect(result.output.contains("\"sources\":[{\"name\":\"cgroup\",\"live\":"))
  }

  @Test func whatCannotBeWrittenIsAFailure() {
    let result = RunningProgram([Program.path(of: "memchunk"), "doctor"].map { Array($0.utf8) }, output: .closed).wait()
    #expect(result.code == 1 && result.error.contains("standard output"))
  }
}
