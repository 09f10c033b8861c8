import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The page in headless Chromium.
@Suite(
  .serialized, .enabled(if: Program.isBuilt, "the program has not been built beside the tests"),
  .enabled(if: Browser.path != nil, "there is no chromium; scripts/setup --browser installs it"))
struct ReportInBrowserTests {
  private let directory = TemporaryDirectory()

  /// The page as its script has made it, and what the browser said on its console.
  private func show(_ path: String) throws -> (page: String, console: String) {
    let result = RunningProgram(
      ([try #require(Browser.path)] + Browser.options + [
        "--user-data-dir=" + directory.file("profile"), "--enable-logging=stderr", "--dump-dom", "file://" + path,
      ]).map { Array($0.utf8) }
    ).wait()
    // More than a flat directory can remove.
    _ = RunningProgram(["/bin/rm", "-rf", directory.file("profile")].map { Array($0.utf8) }).wait()
    let console = result.error.split(separator: "\n").filter { $0.contains("CONSOLE") }
    return (result.output, console.joined(separator: "\n"))
  }

  /// What the cells of a table say to programs.
  private func values(_ table: String, in page: String) -> [Double] {
    guard let start = page.split(separator: "<table id=\"\(table)\"").dropFirst().first else { return [] }
    let body = start.split(separator: "</table>")[0]
    return body.split(separator: "data-value=\"").dropFirst().compactMap { Double($0.prefix { $0 != "\"" }) }
  }

  /// The numbers of one name in a part of the JSON, in their order.
  private func numbers(_ name: String, in json: Substring) -> [Double] {
    json.split(separator: "\"\(name)\":").dropFirst().compactMap { Double($0.prefix { !",}]".contains($0) }) }
  }

  private func part(_ name: String, of json: String) throws -> Substring {
    let rest = try #require(json.split(separator: "\"\(name)\":[").dropFirst().first)
    return "\"" + rest.prefix { $0 != "]" }
  }

  private func check(_ trace: String, _ arguments: [String]) throws -> String {
    let output = directory.file("page.html")
    let result = Program.run(program: "memchunk", ["report", trace, "-o", output, "--json"] + arguments)
    #expect(result.code == 0, "\(result.error)")
    let (page, console) = try show(output)
    #expect(console.isEmpty, "\(console)")
    #expect(page.contains("data-drawn=\"yes\""), "the script did not come to its end")

    let policies = try part("policies", of: result.output)
    let times = numbers("missedNanoseconds", in: policies)
    let lru = try #require(numbers("missedNanoseconds", in: policies.split(separator: "\"lru\"")[1]).first)
    let bound = try #require(result.number("boundNanoseconds"))
    var expected: [Double] = []
    for (index, time) in times.enumerated() {
      expected += [
        time, time / lru, numbers("misses", in: policies)[index], numbers("missedBytes", in: policies)[index],
      ]
    }
    expected += [Double(bound), Double(bound) / lru]
    #expect(times.count >= 5 && values("policies", in: page) == expected)

    let curve = try part("curve", of: result.output)
    let columns = ["budgetBytes", "misses", "missedBytes", "missedNanoseconds"].map { numbers($0, in: curve) }
    #expect(columns[0].count > 10)
    #expect(values("curve-table", in: page) == columns[0].indices.flatMap { row in columns.map { $0[row] } })

    // The advice has some of its own, about thrashing.
    let dearest = try part("dearest", of: String(#require(result.output.split(separator: "\"curve\":[").last)))
    let dear = ["nanoseconds", "generations", "bytes"].map { numbers($0, in: dearest) }
    #expect(!dear[0].isEmpty)
    #expect(values("dearest", in: page) == dear[0].indices.flatMap { row in dear.map { $0[row] } })
    for name in ["budgetBytes", "requests", "objects", "boundNanoseconds"] {
      let number = try #require(result.number(name))
      #expect(page.contains("data-name=\"\(name)\" data-value=\"\(number)\""), "\(name)")
    }
    return page
  }

  @Test(.timeLimit(.minutes(10))) func aRecordingShowsItsNumbersAndNoErrors() throws {
    let page = try check(try SampleSession.record(in: directory), [])
    #expect(page.contains("<title>session.trace - memchunk report</title>"))
    #expect(page.contains("id=\"lanes\"") && page.contains("keep limit, pressure warning"))
  }

  @Test(.timeLimit(.minutes(10))) func aTraceWithoutTimesShowsWhatItKnows() throws {
    let path = directory.file("small.csv")
    var text = "seq,id,size,cost_us\n"
    for step in 0..<60 { text += "\(step),\(step % 7),\(100 + step % 7),\(1_000 * (step % 7))\n" }
    let file = try #require(fopen(path, "w"))
    fputs(text, file)
    fclose(file)
    let page = try check(path, ["--budget", "300"])
    #expect(!page.contains("id=\"lanes\""))
  }
}

/// Where the browser is, and how it is run without a screen.
enum Browser {
  static let path: String? = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
    .first { access($0, X_OK) == 0 }
  // Root, and machines with little shared memory, need the first ones; the last ones keep it off the network.
  static let options = [
    "--headless", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-extensions",
  ]
}
