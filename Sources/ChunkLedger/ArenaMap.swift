/// Which pages of the arena are used, free, and free but still resident ("warm").
///
/// The store of buffers is address space, usually more than the budget, of which only counted pages are
/// resident. This is its map: it hands out runs of pages, joins free neighbours, recycles
/// warm pages before it touches cold ones, and says which warm pages to give back to the system.
/// It never sees the memory itself.
///
/// A free run is warm or cold as a whole, and two of a kind never touch. What is handed out lies in one warm run where
/// that can be, since the system clears each cold page anew (microseconds a page); else around one of the longest warm
/// runs; else in cold ones. One list of holes, each with some warm pages, was tried: best fit then mostly found cold ones,
/// while the warm ones had to be given back for them.
///
/// Runs are kept by length in segregated lists (eight classes to a doubling), so that a good fit is
/// found without a walk over all of them; within the first fitting class a few are compared and the
/// shortest is taken. A hole that is long enough is always found. Three numbers a page are kept, and the tables reach
/// only as far as pages were ever used.
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

  /// Pages below this have been in use at some time; what lies above is cold, and in no list.
  private(set) var frontier = 0
  var marks: [Mark] = []
  /// The lists of cold runs, and then those of warm ones.
  private var heads: [Int32] = Array(repeating: -1, count: 2 * LengthClass.count)
  private var occupied = NumberSet(size: 2 * LengthClass.count)

  /// What is kept of a page. Inner pages of a run say nothing.
  struct Mark {
    /// At a free run's first and last page its length, negative where it is cold; 0 at used pages.
    var edge: Int32 = 0
    /// At its first page, the runs beside it in its list.
    var next: Int32 = -1
    var previous: Int32 = -1
  }

  package init(pageSize: Int) {
    self.pageSize = pageSize
  }

  package var warmBytes: Int { warmPages * pageSize }

  package func pages(for bytes: Int) -> Int { (bytes + pageSize - 1) / pageSize }

  /// Whether so many pages lie together that are all warm.
  package func hasWarmRun(pages count: Int) -> Bool { bestRun(.warm, atLeast: count) != nil }

  /// Adds address space that begins at page `start`; pages between the old end and `start` belong
  /// to nothing, so that no run can reach across.
  package mutating func addCapacity(pages: Int, at start: Int) {
    precondition(start >= capacity)
    if start > frontier {
      // What was left above the frontier of the last range becomes an ordinary run.
      let rest = PageRun(start: frontier, count: capacity - frontier)
      grow(to: start)
      if rest.count > 0 { insert(rest, .cold) }
    }
    capacity = start + pages
  }

  /// Takes a run of pages, warm ones where it can. Nil when no hole is long enough.
  package mutating func allocate(bytes: Int) -> PageRun? {
    let count = pages(for: bytes)
    guard
      let place = bestRun(.warm, atLeast: count) ?? placeAroundWarm(count, looks: 16)
        ?? bestRun(.cold, atLeast: count) ?? placeAtFrontier(count)
        // Before there is none, all are looked at.
        ?? placeAroundWarm(count, looks: .max)
    else { return nil }
    take(place)
    return place.run
  }

  /// Puts a run back. Its pages are warm: somebody has written to them. Returns the warm run that it is now a part of.
  @discardableResult
  package mutating func free(_ run: PageRun) -> PageRun {
    usedPages -= run.count
    return insert(run, .warm)
  }

  /// Chooses warm pages to give back, of the longest runs first: few calls, and the short ones, which
  /// fill up soonest, stay warm. They are cold from now on.
  package mutating func giveBack(bytes: Int) -> Few<PageRun> {
    var wanted = min(pages(for: bytes), warmPages)
    var given = Few<PageRun>()
    while wanted > 0, let longest = occupied.last(below: 2 * LengthClass.count) {
      let start = Int(heads[longest])
      let length = remove(at: start).count
      let run = PageRun(start: start, count: min(length, wanted))
      if length > run.count { insert(PageRun(start: run.end, count: length - run.count), .warm) }
      insert(run, .cold)
      wanted -= run.count
      given.append(run)
    }
    return given
  }
}

// Where a run is placed, and how it is cut out.
extension ArenaMap {
  private enum Kind { case cold, warm }

  /// Pages to be taken, and where the first of the free runs that they lie in begins.
  private struct Place {
    var run: PageRun
    var hole: Int
  }

  /// The start of one of the shortest runs of a kind that are long enough.
  private func bestRun(_ kind: Kind, atLeast count: Int) -> Place? {
    // What could lie nowhere has no list.
    guard count <= capacity else { return nil }
    let own = Self.list(kind, count)
    let longer = occupied.first(from: own + 1).flatMap { $0 <= Self.list(kind, .max) ? $0 : nil }
    guard
      let start = bestRun(in: own, atLeast: count, looks: 16)
        ?? longer.flatMap({ bestRun(in: $0, atLeast: count, looks: 16) })
        // Runs of the same class may be a little too short; before there is none, all of them are looked at.
        ?? bestRun(in: own, atLeast: count, looks: .max)
    else { return nil }
    return Place(run: PageRun(start: start, count: count), hole: start)
  }

  private func bestRun(in list: Int, atLeast count: Int, looks: Int) -> Int? {
    var best: Int?
    var run = heads[list]
    var left = looks
    while run >= 0, left > 0 {
      let start = Int(run)
      let length = abs(marks[start].edge)
      if length >= count, best == nil || length < abs(marks[best!].edge) { best = start }
      run = marks[start].next
      left -= 1
    }
    return best
  }

  /// A place that one of the longest warm runs is part of, with what lies free before and behind it.
  private func placeAroundWarm(_ count: Int, looks: Int) -> Place? {
    var left = looks
    var list = 2 * LengthClass.count
    while left > 0, let longest = occupied.last(below: list), longest >= LengthClass.count {
      list = longest
      var run = heads[longest]
      while run >= 0, left > 0 {
        if let place = place(around: Int(run), count) { return place }
        run = marks[Int(run)].next
        left -= 1
      }
    }
    return nil
  }

  /// Behind the start of a run if that is long enough, else as far before it as must be.
  private func place(around start: Int, _ count: Int) -> Place? {
    var end = start
    while end < frontier, marks[end].edge != 0, end - start < count { end += Int(abs(marks[end].edge)) }
    var first = start
    while first > 0, marks[first - 1].edge != 0, end - first < count { first -= Int(abs(marks[first - 1].edge)) }
    guard end - first >= count else { return nil }
    return Place(run: PageRun(start: min(start, end - count), count: count), hole: first)
  }

  /// The free runs that end at the frontier, if some do, and fresh pages.
  private func placeAtFrontier(_ count: Int) -> Place? {
    var start = frontier
    while start > 0, marks[start - 1].edge != 0, frontier - start < count { start -= Int(abs(marks[start - 1].edge)) }
    guard start + count <= capacity else { return nil }
    return Place(run: PageRun(start: start, count: count), hole: start)
  }

  private mutating func take(_ place: Place) {
    let run = place.run
    var page = place.hole
    let end = min(run.end, frontier)
    while page < end {
      let (length, kind) = remove(at: page)
      if page < run.start { link(PageRun(start: page, count: run.start - page), kind) }
      if page + length > run.end { link(PageRun(start: run.end, count: page + length - run.end), kind) }
      page += length
    }
    grow(to: run.end)
    usedPages += run.count
  }

  /// Adds a free run to those of its kind that it touches. Returns what they are together.
  @discardableResult
  private mutating func insert(_ run: PageRun, _ kind: Kind) -> PageRun {
    var whole = run
    if run.start > 0, isFree(run.start - 1, kind) {
      whole.start -= Int(abs(marks[run.start - 1].edge))
      whole.count += remove(at: whole.start).count
    }
    if run.end < frontier, isFree(run.end, kind) { whole.count += remove(at: run.end).count }
    link(whole, kind)
    return whole
  }

  /// Whether a page, the first or the last of its run, is free in this way.
  private func isFree(_ page: Int, _ kind: Kind) -> Bool { kind == .warm ? marks[page].edge > 0 : marks[page].edge < 0 }

  private mutating func grow(to end: Int) {
    guard end > frontier else { return }
    if end > marks.count { marks += repeatElement(Mark(), count: end - marks.count) }
    frontier = end
  }

  private static func list(_ kind: Kind, _ length: Int) -> Int {
    (kind == .warm ? LengthClass.count : 0) + (length == .max ? LengthClass.count - 1 : LengthClass.index(of: length))
  }

  private mutating func link(_ run: PageRun, _ kind: Kind) {
    if kind == .warm { warmPages += run.count }
    let list = Self.list(kind, run.count)
    let head = heads[list]
    heads[list] = Int32(run.start)
    occupied.insert(list)
    // The array is asked once, and not at each step, whether it is shared.
    marks.withUnsafeMutableBufferPointer { marks in
      let length = Int32(kind == .warm ? run.count : -run.count)
      marks[run.start] = Mark(edge: length, next: head, previous: -1)
      marks[run.end - 1].edge = length
      if head >= 0 { marks[Int(head)].previous = Int32(run.start) }
    }
  }

  private mutating func remove(at start: Int) -> (count: Int, kind: Kind) {
    let mark = marks[start]
    let kind: Kind = mark.edge > 0 ? .warm : .cold
    let count = Int(abs(mark.edge))
    marks.withUnsafeMutableBufferPointer { marks in
      if mark.previous >= 0 { marks[Int(mark.previous)].next = mark.next }
      if mark.next >= 0 { marks[Int(mark.next)].previous = mark.previous }
      marks[start].edge = 0
      marks[start + count - 1].edge = 0
    }
    if mark.previous < 0 {
      let list = Self.list(kind, count)
      heads[list] = mark.next
      if mark.next < 0 { occupied.remove(list) }
    }
    if kind == .warm { warmPages -= count }
    return (count, kind)
  }
}
