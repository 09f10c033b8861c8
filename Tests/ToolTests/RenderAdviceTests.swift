import ChunkTrace
import TestSupport
import Testing

/// What a recorded rendering says of other budgets is what `lifecards render` then does.
@Suite(.enabled(if: Program.isBuilt, "the program has not been built beside the tests")) struct RenderAdviceTests {
  let directory = TemporaryDirectory()

  /// Renders a document, and records that.
  private func render(_ document: String, _ budget: Int, _ trace: String) -> Program.Result {
    Program.run(
      "render", document, directory.file("card.png"), "--level=1", "--budget", "\(budget)", "--trace", trace, "--json")
  }

  private func makeDocument() -> String {
    let path = directory.file("card.ora")
    #expect(Program.run("sample", path, "--layers=30", "--width=200", "--height=300").code == 0)
    return path
  }

  @Test("half, the same and twice a small budget are foretold to the byte, and the recommended one stops the thrash")
  func budgets() throws {
    let (document, trace) = (makeDocument(), directory.file("card.trace"))
    let least = try #require(Program.run("info", document, "--json").number("leastBudgetBytes"))
    for recorded in [2 * least, 3 * least] {
      let first = render(document, recorded, trace)
      #expect(first.code == 0 && first.number("bands")! > 1, "\(first.error)")
      for budget in [recorded / 2, recorded, 2 * recorded] {
        let told = Program.run(
          program: "memchunk", ["replay", trace, "--policy=lru", "--json", "--budget", "\(budget)"])
        let done = render(document, budget, directory.file("again.trace"))
        #expect(done.code == 0 && told.code == 0, "\(told.error)")
        #expect(told.number("misses") == done.number("generations"), "\(budget)")
        #expect(told.number("missedBytes") == done.number("generatedBytes"), "\(budget)")
      }
      let advice = Program.run(program: "memchunk", ["advise", trace, "--json"])
      let enough = try #require(advice.number("budgetThatStopsItBytes"))
      #expect(render(document, enough, directory.file("again.trace")).number("generations") == 31)
    }
  }

  @Test func adviceSaysThatItIsPlannedAndWhatWouldBeLess() throws {
    let (document, trace) = (makeDocument(), directory.file("card.trace"))
    let least = try #require(Program.run("info", document, "--json").number("leastBudgetBytes"))
    #expect(render(document, 2 * least, trace).code == 0)
    let text = Program.run(program: "memchunk", ["advise", trace]).output
    for part in ["It plans by its budget, which must be", "today ", " on, 31 generations of", "It thrashes: "] {
      #expect(text.contains(part), "\(text)")
    }
    #expect(!text.contains("0 requests"))
    let below = Program.run(program: "memchunk", ["replay", trace, "--budget", "\(least - 1)"])
    #expect(below.code == 2 && below.error.contains("what was recorded cannot be done; it needs"), "\(below.error)")
  }
}
