/// Adjacent pages of the arena.
package struct PageRun: Hashable, Sendable {
  package var start: Int
  package var count: Int

  package init(start: Int, count: Int) {
    self.start = start
    self.count = count
  }

  package var end: Int { start + count }
}
