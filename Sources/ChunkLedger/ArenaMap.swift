/// Which pages of the arena are used, free, and free but still resident ("warm").
///
/// The store of buffers is address space, usually more than the budget, of which only counted pages are
/// resident. This is its map: it hands out runs of pages, joins free neighbours, recycles
/// warm pages before it touches cold ones, and says which warm pages to give back to the system.
/// It never sees the memory itself.
///
/// Holes are kept by length in segregated lists (eight classes to a doubling), so that a good fit is
/// found without a walk over all holes; within the first fitting class a few are compared and the
/// shortest is taken. A hole that is long enough is always found. Three numbers a page are kept at each
/// hole's edge only, and the tables reach only as far as pages were ever used.
///
/// Source of the two-level classes: Masmano and others, "TLSF: a new dynamic memory allocator for
/// real-time systems", 2004.
package struct ArenaMap {
  /// Bytes of one page.
  package let pageSize: Int
  /// Pages of address space that exist.
  package private(set) var capacity = 0
  /// Free pages that are still resident.
  package private(set) var warmPages = 0
  /// Pages handed out.
  package private(set) var usedPages = 0

  /// Pages below this have been in use at some time; what lies above is one cold hole in no list.
  private(set) var frontier = 0
  /// At a hole's first and last page its length; 0 at used pages. Inner pages say nothing.
  private(set) var edge: [Int32] = []
  /// At a hole's first page: how many of its pages are warm.
  private(set) var warmth: [Int32] = []
  private var next: [Int32] = []
  private var previous: [Int32] = []
  private(set) var warm = PageSet()
  private var heads: [Int32] = Array(repeating: -1, count: LengthClass.count)
  private var occupied = PageSet(size: LengthClass.count)

  package init(pageSize: Int) {
    self.pageSize = pageSize
  }

  package var warmBytes: Int { warmPages * pageSize }

  package func pages(for bytes: Int) -> Int { (bytes + pageSize - 1) / pageSize }

  /// Adds address space that begins at page `start`; pages between the old end and `start` belong
  /// to nothing, so that no run can reach across.
  package mutating func addCapacity(pages: Int, at start: Int) {
    precondition(start >= capacity)
    if start > frontier {
      // What was left above the frontier of the last range becomes an ordinary hole, joined to the one before it.
      var rest = PageRun(start: frontier, count: capacity - frontier)
      grow(to: start)
      if rest.count > 0 {
        let warmth = joinHole(before: &rest)
        insertHole(rest, warm: warmth)
      }
    }
    capacity = start + pages
  }

  /// Takes a run of pages, warm ones where it can. Nil when no hole is long enough.
  package mutating func allocate(bytes: Int) -> PageRun? {
    let count = pages(for: bytes)
    guard let run = takeFromHole(count) ?? takeFromFrontier(count) else { return nil }
    warmPages -= warm.removeAll(in: run)
    usedPages += count
    return run
  }

  /// Puts a run back. Its pages are warm: somebody has written to them.
  package mutating func free(_ run: PageRun) {
    usedPages -= run.count
    warmPages += run.count
    warm.insertAll(in: run)
    var hole = run
    var warmth = Int32(run.count) + joinHole(before: &hole)
    if run.end < frontier, edge[run.end] > 0 {
      let after = Int(edge[run.end])
      warmth += removeHole(at: run.end)
      hole.count += after
    }
    insertHole(hole, warm: warmth)
  }

  /// Extends `hole` over a hole that ends where it begins; returns how many pages of that one are warm.
  private mutating func joinHole(before hole: inout PageRun) -> Int32 {
    guard hole.start > 0, edge[hole.start - 1] > 0 else { return 0 }
    let before = Int(edge[hole.start - 1])
    hole = PageRun(start: hole.start - before, count: hole.count + before)
    return removeHole(at: hole.start)
  }

  /// Chooses warm pages to give back, of the longest holes first: few calls, and the short holes, which
  /// fill up soonest, stay warm. They are cold from now on.
  package mutating func giveBack(bytes: Int) -> [PageRun] {
    var wanted = min(pages(for: bytes), warmPages)
    var given: [PageRun] = []
    var index = LengthClass.count
    while wanted > 0, let length = occupied.last(below: index) {
      index = length
      var hole = heads[length]
      while hole >= 0, wanted > 0 {
        let start = Int(hole)
        if warmth[start] > 0 {
          let runs = warm.takeRuns(in: PageRun(start: start, count: Int(edge[start])), atMost: wanted)
          let pages = runs.reduce(0) { $0 + $1.count }
          warmth[start] -= Int32(pages)
          warmPages -= pages
          wanted -= pages
          given += runs
        }
        hole = next[start]
      }
    }
    return given
  }

  private mutating func takeFromHole(_ count: Int) -> PageRun? {
    let own = LengthClass.index(of: count)
    let candidate =
      bestHole(in: own, atLeast: count, looks: 16)
      ?? occupied.first(from: own + 1).flatMap { bestHole(in: $0, atLeast: count, looks: 16) }
      // Holes of the same class may be a little too short; before there is none, all of them are looked at.
      ?? bestHole(in: own, atLeast: count, looks: .max)
    guard let start = candidate else { return nil }
    let hole = PageRun(start: start, count: Int(edge[start]))
    let warmthOfHole = removeHole(at: start)
    let run = PageRun(start: start, count: count)
    if hole.count > count {
      let rest = PageRun(start: run.end, count: hole.count - count)
      insertHole(rest, warm: warmthOfHole - Int32(warm.count(in: run)))
    }
    return run
  }

  /// Extends the last hole, if it ends there, over the frontier. That hole is too short, or it would have been taken.
  private mutating func takeFromFrontier(_ count: Int) -> PageRun? {
    var start = frontier
    if frontier > 0, edge[frontier - 1] > 0 { start = frontier - Int(edge[frontier - 1]) }
    guard start + count <= capacity else { return nil }
    if start < frontier { _ = removeHole(at: start) }
    grow(to: start + count)
    return PageRun(start: start, count: count)
  }

  private func bestHole(in length: Int, atLeast count: Int, looks: Int) -> Int? {
    guard length < LengthClass.count else { return nil }
    var best: Int?
    var hole = heads[length]
    var left = looks
    while hole >= 0, left > 0 {
      let start = Int(hole)
      if edge[start] >= count, best == nil || edge[start] < edge[best!] { best = start }
      hole = next[start]
      left -= 1
    }
    return best
  }

  private mutating func grow(to end: Int) {
    guard end > frontier else { return }
    let more = end - edge.count
    if more > 0 {
      edge += repeatElement(0, count: more)
      warmth += repeatElement(0, count: more)
      next += repeatElement(-1, count: more)
      previous += repeatElement(-1, count: more)
      warm.grow(to: end)
    }
    frontier = end
  }

  private mutating func insertHole(_ hole: PageRun, warm: Int32) {
    edge[hole.start] = Int32(hole.count)
    edge[hole.end - 1] = Int32(hole.count)
    warmth[hole.start] = warm
    let length = LengthClass.index(of: hole.count)
    let head = heads[length]
    next[hole.start] = head
    previous[hole.start] = -1
    if head >= 0 { previous[Int(head)] = Int32(hole.start) }
    heads[length] = Int32(hole.start)
    occupied.insert(length)
  }

  /// Returns how many of its pages were warm.
  private mutating func removeHole(at start: Int) -> Int32 {
    let count = Int(edge[start])
    let length = LengthClass.index(of: count)
    if previous[start] >= 0 { next[Int(previous[start])] = next[start] } else { heads[length] = next[start] }
    if next[start] >= 0 { previous[Int(next[start])] = previous[start] }
    if heads[length] < 0 { occupied.remove(length) }
    edge[start] = 0
    edge[start + count - 1] = 0
    return warmth[start]
  }
}

/// Lengths in classes: exact below eight, then eight classes to a doubling.
enum LengthClass {
  static let count = 8 + 8 * 29

  static func index(of length: Int) -> Int {
    guard length >= 8 else { return length }
    let exponent = Int.bitWidth - 1 - length.leadingZeroBitCount
    return 8 + (exponent - 3) * 8 + ((length >> (exponent - 3)) & 7)
  }
}
