import ChunkTrace
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// `memchunk report`: the page, what it shows in a browser, and what its data says.
@Suite(.enabled(if: Program.isBuilt, "the program has not been built beside the tests")) struct ReportTests {
  private let directory = TemporaryDirectory()

  private func page(_ path: String) -> String { String(decoding: readFile(path) ?? [], as: UTF8.self) }

  @Test func thePageNeedsNothingElseAndLabelsStayData() throws {
    let output = directory.file("page.html")
    let result = Program.run(program: "memchunk", ["report", try SampleSession.record(in: directory), "-o", output])
    #expect(result.code == 0 && result.output.isEmpty && result.error.isEmpty, "\(result.error)")
    let page = page(output)
    #expect(page.hasPrefix("<!DOCTYPE html>") && page.hasSuffix("</html>\n"))
    #expect(page.split(separator: "<script").count == 3 && page.split(separator: "</script>").count == 3)
    for part in ["http:", "https:", "src=", "href=", "@import", "url("] {
      #expect(!page.contains(part), "\(part)")
    }
  }

  @Test func theAdviceIsTheSameAsAdviseGives() throws {
    let path = try SampleSession.record(in: directory)
    let report = Program.run(program: "memchunk", ["report", path, "--json"]).output
    let advice = Program.run(program: "memchunk", ["advise", path, "--json"]).output
    #expect(!advice.isEmpty && report.contains("\"advice\":" + advice.dropLast() + ","))
    #expect(advice.contains("\"pinnedLong\":[{\"label\":\"chunk 3\",\"bytes\":200000,"), "\(advice)")
    #expect(Program.run(program: "memchunk", ["advise", path]).output.contains("chunk 3, 0.19 MB, is pinned too long"))
  }

  @Test func aPageThatCannotBeWrittenLeavesNothing() throws {
    let path = try SampleSession.record(in: directory)
    let result = Program.run(program: "memchunk", ["report", path, "-o", directory.file("none/page.html")])
    #expect(result.code == 1 && result.error.contains("none/page.html: cannot be written"), "\(result.error)")
    #expect(Program.run(program: "memchunk", ["report", path]).code == 2)
    // A directory cannot be replaced; the unfinished file must not stay beside it.
    let folder = directory.file("folder")
    mkdir(folder, 0o700)
    #expect(Program.run(program: "memchunk", ["report", path, "-o", folder]).code == 1)
    #expect(directory.fileNames == ["folder", "session.trace"])
    rmdir(folder)
  }

  @Test("lifecards writes the same kind of trace and page")
  func lifecards() throws {
    let (document, picture) = (directory.file("card.ora"), directory.file("card.png"))
    let (trace, page) = (directory.file("card.trace"), directory.file("card.html"))
    #expect(Program.run("sample", document, "--layers", "3", "--width", "60", "--height", "40").code == 0)
    let both = Program.run("render", document, picture, "--trace", trace, "--report", page)
    #expect(both.code == 0, "\(both.error)")
    #expect(try TraceFile(trace).budget == 10 << 20)
    #expect(self.page(page).contains("data/layer0.png"))
    unlink(trace)
    unlink(page)
    #expect(Program.run("render", document, picture, "--report", page).code == 0)
    #expect(self.page(page).contains("data/layer0.png"))
    #expect(directory.fileNames == ["card.html", "card.ora", "card.png"])
    #expect(Program.run("render", document, picture, "--trace", document).code == 2)
    // A budget that is too small leaves an older trace as it was.
    #expect(Program.run("render", document, picture, "--trace", page, "--budget", "1KB").code == 1)
    #expect(self.page(page).contains("data/layer0.png"))
  }
}
