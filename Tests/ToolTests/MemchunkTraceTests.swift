import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// `memchunk` with traces: replay, curve, advise.
@Suite(.enabled(if: Program.isBuilt, "the program has not been built beside the tests")) struct MemchunkTraceTests {
  let directory = TemporaryDirectory()

  private func run(_ words: String...) -> Program.Result { Program.run(program: "memchunk", words) }

  /// Two small objects used in turn with one large one, five times.
  private func makeTrace() throws -> String {
    let path = directory.file("small.csv")
    var text = "seq,id,size,cost_us\n"
    for step in 0..<5 {
      text += "\(3 * step),1,100,5000\n\(3 * step + 1),2,100,5000\n\(3 * step + 2),3,1000,10\n"
    }
    let file = try #require(fopen(path, "w"))
    fputs(text, file)
    fclose(file)
    return path
  }

  @Test func replaysWhatIsAskedFor() throws {
    let path = try makeTrace()
    let result = run("replay", path, "--budget", "1100", "--policy", "lru,offline", "--json")
    #expect(result.code == 0 && result.error.isEmpty, "\(result.error)")
    #expect(result.output.hasPrefix("{\"budgetBytes\":1100,\"requests\":15,"), "\(result.output)")
    // Least recently used gains nothing. With foresight, one of the small objects stays, and at last the large one.
    #expect(result.output.contains("{\"policy\":\"lru\",\"misses\":15,"), "\(result.output)")
    #expect(result.output.contains("{\"policy\":\"offline\",\"misses\":10,"), "\(result.output)")
    let text = run("replay", path, "--budget=2KB")
    for part in ["15 requests, budget 0.00 MB", "adaptive", "offline", "bound"] {
      #expect(text.output.contains(part), "\(text.output)")
    }
  }

  @Test func drawsTheCurve() throws {
    let result = run("curve", try makeTrace(), "--json")
    #expect(result.code == 0, "\(result.error)")
    #expect(
      result.output.hasSuffix(
        "{\"budgetBytes\":1200,\"misses\":3,\"missedBytes\":1200,\"missedNanoseconds\":10010000}]}\n"),
      "\(result.output)")
    #expect(run("curve", try makeTrace(), "--policy", "gdsf").output.contains("budget"))
  }

  @Test func advisesInSentences() throws {
    let path = try makeTrace()
    let result = run("advise", path, "--budget", "1100")
    #expect(result.code == 0, "\(result.error)")
    for part in ["15 requests for 3 objects", "The best policy today is", "It thrashes: 12 of 15", "object 1"] {
      #expect(result.output.contains(part), "\(result.output)")
    }
    #expect(run("advise", path, "--budget=1100", "--json").number("budgetThatStopsItBytes") == 1_200)
    #expect(run("advise", path, "--budget=1200", "--json").output.contains("\"thrash\":null"))
  }

  @Test func saysWhereAFileIsDamagedAndUsesWhatStandsBefore() throws {
    let path = try makeTrace()
    truncate(path, 100)
    let refused = run("curve", path)
    #expect(refused.code == 1 && refused.output.isEmpty)
    #expect(refused.error.contains("damaged at byte") && refused.error.contains("--salvage"), "\(refused.error)")
    let used = run("curve", path, "--salvage")
    #expect(used.code == 0 && used.error.contains("used so far"))
    #expect(run("replay", directory.file("none"), "--budget", "1").code == 1)
  }

  @Test(
    "a wrong command line ends with code 2",
    arguments: [
      [], ["guess"], ["replay"], ["replay", "a", "b"], ["replay", "a", "--policy", "best"],
      ["curve", "a", "--budget=1"],
      ["replay", "a", "--mode", "soft"], ["advise", "a", "--budget", "much"], ["curve", "a", "--policy", "offline"],
    ])
  func usage(words: [String]) {
    let result = Program.run(program: "memchunk", words)
    #expect(result.code == 2)
    #expect(result.output.isEmpty && result.error.contains("memchunk --help"))
  }

  @Test("help has examples", arguments: [[], ["replay"], ["curve"], ["advise"]])
  func help(words: [String]) {
    let result = Program.run(program: "memchunk", words + ["--help"])
    #expect(result.code == 0)
    #expect(result.output.contains("examples:\n  memchunk"), "\(result.output)")
  }
}
