import ChunkLedger

/// Does random things to a page map, and looks at every page after each.
package struct ArenaDriver: ~Copyable {
  var map: ArenaMap
  var board = PageBoard()
  var random: ModelRandom
  private var runs: [PageRun] = []
  private var steps = 0
  private var disagreement: StaticString?

  package init(seed: UInt64) {
    map = ArenaMap(pageSize: 4_096)
    random = ModelRandom(seed: seed)
  }

  /// The number of steps done, the one that failed included.
  package func stepsDone() -> Int { steps }

  /// Runs until `total` steps have been done; returns the first thing that is wrong.
  package mutating func run(to total: Int, recountEvery interval: Int = 8) -> StaticString? {
    while steps < total, disagreement == nil {
      steps += 1
      // It fills up and empties in long waves, so that it is seen full, empty and full of holes.
      let isFilling = steps / 400 % 2 == 0
      switch random.below(100) {
      case 0..<(isFilling ? 55 : 35): allocate()
      case 0..<92: free()
      default: giveBack()
      }
      expect(map.usedPages == board.usedPages, "the used pages differ")
      expect(map.warmPages == board.warmPages, "the warm pages differ")
      expect(map.warmBytes == board.warmPages * map.pageSize, "the warm bytes differ")
      if steps % interval == 0, let broken = map.firstBrokenInvariant() { expect(false, broken) }
    }
    return disagreement
  }

  private mutating func allocate() {
    // Many of similar lengths, which fall into one class of holes, and a few long ones.
    let bytes =
      random.percent(70) ? random.from(1, to: 40_000) : random.from(200_000, to: random.percent(20) ? 900_000 : 300_000)
    let pages = map.pages(for: bytes)
    expect(pages * map.pageSize >= bytes && (pages - 1) * map.pageSize < bytes, "bytes are rounded wrongly")
    let hole = board.longestHole
    let (warm, warmHole) = (board.warmPages, board.longestWarmHole)
    guard let run = map.allocate(bytes: bytes) else {
      expect(hole < pages, "a hole was long enough and was not found")
      return addPiece(atLeast: pages)
    }
    expect(run.count == pages, "a run has another length than was asked for")
    expect(board.take(run), "a run overlaps another, or a gap")
    expect(
      warmHole < pages || warm - board.warmPages == pages, "cold pages were taken though a warm run was long enough")
    runs.append(run)
  }

  private mutating func addPiece(atLeast pages: Int) {
    // A piece for every page would make the board long; empty it instead.
    guard board.pages.count < 900 else { return }
    let start = board.pages.isEmpty ? 0 : board.pages.count + random.from(1, to: 5)
    let count = max(pages, random.from(1, to: 250))
    map.addCapacity(pages: count, at: start)
    board.addPiece(pages: count, at: start)
    expect(map.capacity == board.pages.count, "the capacity differs")
  }

  private mutating func free() {
    guard !runs.isEmpty else { return }
    // Some are only tried.
    var trial = FreeTrial()
    for run in runs.prefix(random.below(4)) { _ = map.tryFree(run, &trial) }
    map.end(trial)
    let run = runs.remove(at: random.below(runs.count))
    trial = FreeTrial()
    let length = map.tryFree(run, &trial)
    map.end(trial)
    expect(map.free(run).count == length, "more or fewer pages lie together than a trial said")
    expect(board.put(run), "a run that was freed was not in use")
  }

  private mutating func giveBack() {
    let bytes = random.below(1_000_000)
    let wanted = min(map.pages(for: bytes), board.warmPages)
    var given = 0
    for run in map.giveBack(bytes: bytes) {
      expect(run.count > 0 && board.cool(run), "a page was given back that was not warm")
      given += run.count
    }
    expect(given == wanted, "more or fewer pages were given back than asked for")
  }

  private mutating func expect(_ holds: Bool, _ otherwise: StaticString) {
    if !holds, disagreement == nil { disagreement = otherwise }
  }
}
