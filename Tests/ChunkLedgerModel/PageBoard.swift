package import ChunkLedger

/// The arena page by page: one mark for each, and a walk over all of them to find a hole.
///
/// It does not predict which hole is taken, that is the map's own business. It says whether what the map did was
/// allowed.
package struct PageBoard {
  enum Mark {
    /// In a gap between two pieces of address space.
    case nowhere
    case used
    /// Free, and resident.
    case warm
    /// Free, and not resident.
    case cold
  }

  private(set) var pages: [Mark] = []
  package private(set) var usedPages = 0
  package private(set) var warmPages = 0

  package init() {}

  /// Adds address space behind a gap of at least one page, so that pieces never touch.
  package mutating func addPiece(pages count: Int, at start: Int) {
    while pages.count < start { pages.append(.nowhere) }
    for _ in 0..<count { pages.append(.cold) }
  }

  /// Hands out a run. False when one of its pages is not free.
  package mutating func take(_ run: PageRun) -> Bool {
    guard run.start >= 0, run.end <= pages.count else { return false }
    for page in run.start..<run.end {
      guard pages[page] == .warm || pages[page] == .cold else { return false }
      mark(page, .used)
    }
    return true
  }

  /// Takes a run back; somebody has written to it. False when one of its pages was not in use.
  package mutating func put(_ run: PageRun) -> Bool {
    for page in run.start..<run.end {
      guard pages[page] == .used else { return false }
      mark(page, .warm)
    }
    return true
  }

  /// Gives a run back to the system. False when one of its pages was not free and warm.
  package mutating func cool(_ run: PageRun) -> Bool {
    for page in run.start..<run.end {
      guard pages[page] == .warm else { return false }
      mark(page, .cold)
    }
    return true
  }

  /// The only place where a mark changes, so that the two counts are right.
  private mutating func mark(_ page: Int, _ new: Mark) {
    if pages[page] == .used { usedPages -= 1 }
    if pages[page] == .warm { warmPages -= 1 }
    if new == .used { usedPages += 1 }
    if new == .warm { warmPages += 1 }
    pages[page] = new
  }

  /// The longest run of free pages.
  package var longestHole: Int { longest { $0 == .warm || $0 == .cold } }

  /// The longest run of pages that are free and resident.
  package var longestWarmHole: Int { longest { $0 == .warm } }

  private func longest(_ isCounted: (Mark) -> Bool) -> Int {
    var longest = 0
    var length = 0
    for page in pages {
      length = isCounted(page) ? length + 1 : 0
      longest = max(longest, length)
    }
    return longest
  }
}
