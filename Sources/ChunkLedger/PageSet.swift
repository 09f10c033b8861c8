/// A set of small numbers, one bit each.
package struct PageSet {
  private var words: [UInt64]

  package init(size: Int = 0) {
    words = Array(repeating: 0, count: (size + 63) / 64)
  }

  package mutating func grow(to size: Int) {
    let more = (size + 63) / 64 - words.count
    if more > 0 { words += repeatElement(0, count: more) }
  }

  package func contains(_ index: Int) -> Bool { words[index >> 6] & (1 << UInt64(index & 63)) != 0 }
  package mutating func insert(_ index: Int) { words[index >> 6] |= 1 << UInt64(index & 63) }
  package mutating func remove(_ index: Int) { words[index >> 6] &= ~(1 << UInt64(index & 63)) }

  /// The least member that is `index` or more.
  package func first(from index: Int) -> Int? {
    var word = index >> 6
    guard word < words.count else { return nil }
    var bits = words[word] & (~0 << UInt64(index & 63))
    while bits == 0 {
      word += 1
      guard word < words.count else { return nil }
      bits = words[word]
    }
    return word << 6 + bits.trailingZeroBitCount
  }

  /// The greatest member below `index`.
  package func last(below index: Int) -> Int? {
    guard index > 0 else { return nil }
    var word = (index - 1) >> 6
    var bits = words[word] & (~0 >> UInt64(63 - (index - 1) & 63))
    while bits == 0 {
      guard word > 0 else { return nil }
      word -= 1
      bits = words[word]
    }
    return word << 6 + 63 - bits.leadingZeroBitCount
  }

  package func count(in run: PageRun) -> Int {
    var total = 0
    forEachWord(of: run) { total += (words[$0] & $1).nonzeroBitCount }
    return total
  }

  package mutating func insertAll(in run: PageRun) {
    var word = run.start >> 6
    while word << 6 < run.end {
      words[word] |= Self.mask(word, run)
      word += 1
    }
  }

  /// Returns how many were members.
  package mutating func removeAll(in run: PageRun) -> Int {
    let removed = count(in: run)
    guard removed > 0 else { return 0 }
    var word = run.start >> 6
    while word << 6 < run.end {
      words[word] &= ~Self.mask(word, run)
      word += 1
    }
    return removed
  }

  /// Removes the first members of `run`, at most so many, and returns them as runs.
  package mutating func takeRuns(in run: PageRun, atMost limit: Int) -> [PageRun] {
    var runs: [PageRun] = []
    var left = limit
    var index = run.start
    while left > 0, let start = first(from: index), start < run.end {
      var end = start
      while end < run.end, left > 0, contains(end) {
        remove(end)
        end += 1
        left -= 1
      }
      runs.append(PageRun(start: start, count: end - start))
      index = end
    }
    return runs
  }

  private func forEachWord(of run: PageRun, _ body: (Int, UInt64) -> Void) {
    var word = run.start >> 6
    while word << 6 < run.end {
      body(word, Self.mask(word, run))
      word += 1
    }
  }

  /// The bits of `word` that lie in `run`.
  private static func mask(_ word: Int, _ run: PageRun) -> UInt64 {
    var mask = ~UInt64(0)
    if run.start > word << 6 { mask &= ~0 << UInt64(run.start & 63) }
    if run.end < (word + 1) << 6 { mask &= (1 << UInt64(run.end & 63)) - 1 }
    return mask
  }
}
