import ChunkLedger
import Testing

/// The page map's holes: joined, fitted, recycled, given back.
@Suite struct ArenaMapTests {
  @Test("bytes are counted in whole pages")
  func wholePages() {
    let map = ArenaMap(pageSize: 4_096)
    #expect([0, 1, 4_096, 4_097, 8_192].map { map.pages(for: $0) } == [0, 1, 1, 2, 2])
  }

  @Test("without address space there is no run")
  func empty() {
    let pages = Pages(0)
    #expect(pages.allocate(1) == nil)
    pages.addPiece(3, at: 0)
    #expect(pages.allocate(4) == nil && pages.allocate(.max / 2) == nil)
    #expect(pages.allocate(3) == PageRun(start: 0, count: 3))
  }

  @Test(
    "neighbours join, on both sides, whatever the order of their frees",
    arguments: [[0, 1, 2], [2, 1, 0], [0, 2, 1], [1, 0, 2]])
  func joined(order: [Int]) throws {
    let pages = Pages(30)
    let runs = try (0..<3).map { _ in try #require(pages.allocate(10)) }
    for index in order { pages.free(runs[index]) }
    #expect(pages.broken == nil)
    #expect(pages.map.warmPages == 30)
    #expect(pages.allocate(30) == PageRun(start: 0, count: 30))
    #expect(pages.map.warmPages == 0)
  }

  @Test("the shortest hole that is long enough is taken")
  func bestFit() throws {
    let pages = Pages(1_000)
    let lengths = [50, 20, 23, 90, 21]
    var holes: [PageRun] = []
    for length in lengths {
      holes.append(try #require(pages.allocate(length)))
      _ = pages.allocate(1)
    }
    for hole in holes { pages.free(hole) }
    #expect(pages.allocate(21) == holes[4])
    #expect(pages.allocate(22)?.start == holes[2].start)
    #expect(pages.allocate(60)?.start == holes[3].start)
  }

  @Test("what was freed is recycled before fresh pages are touched")
  func recycled() throws {
    let pages = Pages(1_000)
    let run = try #require(pages.allocate(40))
    _ = pages.allocate(1)
    pages.free(run)
    #expect(pages.allocate(30) == PageRun(start: 0, count: 30))
    #expect(pages.map.warmPages == 10)
    // No hole is long enough: the fresh pages are.
    #expect(pages.allocate(11) == PageRun(start: 41, count: 11))
  }

  @Test("a hole at the end of what was used grows into the fresh pages")
  func lastHoleGrows() throws {
    let pages = Pages(100)
    let run = try #require(pages.allocate(40))
    pages.free(run)
    #expect(pages.allocate(60) == PageRun(start: 0, count: 60))
    #expect(pages.map.warmPages == 0)
    #expect(pages.broken == nil)
  }

  @Test("a long hole behind many of its class that are too short is found, and nothing of it is lost")
  func behindManyTooShort() throws {
    let pages = Pages(5_000)
    var short: [PageRun] = []
    for _ in 0..<40 {
      short.append(try #require(pages.allocate(64)))
      _ = pages.allocate(1)
    }
    let long = try #require(pages.allocate(70))
    // Freed first, so that all the others are found before it: lengths 64 to 71 are one class.
    pages.free(long)
    for run in short { pages.free(run) }
    #expect(pages.allocate(66) == PageRun(start: long.start, count: 66))
    #expect(pages.broken == nil)
    #expect(pages.map.warmPages == 40 * 64 + 4)
    #expect(pages.giveBack(pages.map.warmPages).reduce(0) { $0 + $1.count } == 40 * 64 + 4)
    #expect(pages.map.usedPages == 40 + 66)
  }

  @Test("no run reaches from one piece of address space into the next")
  func pieces() throws {
    let pages = Pages(10)
    let first = try #require(pages.allocate(6))
    pages.free(first)
    pages.addPiece(10, at: 12)
    #expect(pages.broken == nil)
    #expect(pages.map.capacity == 22)
    // What was left of the first piece has joined the hole before it.
    #expect(pages.allocate(10) == PageRun(start: 0, count: 10))
    #expect(pages.allocate(11) == nil)
    #expect(pages.allocate(10) == PageRun(start: 12, count: 10))
    #expect(pages.allocate(1) == nil)
  }

  @Test("pages are given back from the longest holes, and are given back once")
  func givenBack() throws {
    let pages = Pages(1_000)
    let short = try #require(pages.allocate(5))
    _ = pages.allocate(1)
    let long = try #require(pages.allocate(100))
    _ = pages.allocate(1)
    pages.free(short)
    pages.free(long)
    #expect(pages.giveBack(60) == [PageRun(start: long.start, count: 60)])
    #expect(pages.map.warmPages == 45)
    #expect(pages.giveBack(42) == [PageRun(start: long.start + 60, count: 40), PageRun(start: 0, count: 2)])
    #expect(pages.giveBack(1_000) == [PageRun(start: 2, count: 3)])
    #expect(pages.giveBack(1_000).isEmpty)
    // Cold pages are as good as any, and warm again after their next use.
    let again = try #require(pages.allocate(100))
    #expect(again == long)
    pages.free(again)
    #expect(pages.map.warmPages == 100)
  }
}
