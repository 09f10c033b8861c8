/// Who may do what in a composition: which thread takes which part, and whose turn it is at each row.
///
/// A row is merged segment by segment in their order, given out by the calling thread, and then its memory serves the
/// row that is as many below as there are in memory. Threads take segments in that order too, so the first one that is
/// not done never waits for a later one.
final class RowProgress: @unchecked Sendable {
  /// A segment's part of a block of rows.
  struct Task: Sendable {
    /// The segment, by its index.
    let segment: Int
    /// Its place among the block's segments.
    fileprivate let position: Int
    /// The rows of the block.
    let rows: Range<Int>
  }

  /// Thrown where others wait when something went wrong; `failure` says what.
  struct Stopped: Error {}

  /// How many rows are told of together: each telling wakes threads.
  private static let rowsTogether = 4

  private let monitor = Monitor()
  private let height: Int
  private let blockHeight: Int
  // All that follows is used under the monitor's lock only.
  private var schedule: BlockSchedule
  private var nextBlock = 0
  private var nextPosition = 0
  /// The segments that threads are at: their decoders serve one block at a time.
  private var isTaken: [Bool]
  private var takenCount = 0
  private var partsFinished = 0
  private var rowsGivenOut = 0
  /// Whose turn it is at each row in memory: a position among the block's segments, or their count when it is done.
  private var turns: [Int] = []
  private var firstFailure: (any Error)?

  init(_ segments: [Segment], height: Int, blockHeight: Int) {
    self.height = height
    self.blockHeight = blockHeight
    schedule = BlockSchedule(segments, height: height, blockHeight: blockHeight)
    isTaken = Array(repeating: false, count: segments.count)
    for row in 0..<min(blockHeight, height) { turns.append(schedule.position(in: row, from: 0)) }
  }

  // MARK: Threads that compose

  /// Takes the next part, once nobody is at its segment any more; nil when there is none left.
  func take() throws -> Task? {
    try monitor.withLock {
      // Blocks that nobody had anything to do in are given out, and forgotten, without this.
      if nextBlock < rowsGivenOut / blockHeight { (nextBlock, nextPosition) = (rowsGivenOut / blockHeight, 0) }
      while nextBlock < schedule.blockCount {
        let list = schedule.segments(in: nextBlock)
        if nextPosition == list.count {
          (nextBlock, nextPosition) = (nextBlock + 1, 0)
          continue
        }
        let segment = list[nextPosition]
        try wait { !isTaken[segment] }
        isTaken[segment] = true
        takenCount += 1
        defer { nextPosition += 1 }
        let start = nextBlock * blockHeight
        return Task(segment: segment, position: nextPosition, rows: start..<min(start + blockHeight, height))
      }
      return nil
    }
  }

  /// Waits until a segment may merge a row. `merged` are rows that it has merged and not told of.
  func enter(_ row: Int, _ task: Task, merged: inout Range<Int>) throws {
    try monitor.withLock {
      if !isTurn(of: task, at: row) { tell(&merged, task) }
      try wait { isTurn(of: task, at: row) }
    }
  }

  /// Says that a segment has merged a row; tells others when there are several such rows.
  func leave(_ row: Int, _ task: Task, merged: inout Range<Int>) {
    merged = merged.isEmpty ? row..<row + 1 : merged.lowerBound..<row + 1
    if merged.count >= Self.rowsTogether { monitor.withLock { tell(&merged, task) } }
  }

  /// Gives the segment back, with all its rows of the block merged.
  func finish(_ task: Task, merged: Range<Int>) {
    monitor.withLock {
      var merged = merged
      tell(&merged, task)
      isTaken[task.segment] = false
      takenCount -= 1
      partsFinished += 1
      monitor.wakeAll()
    }
  }

  /// How many parts are finished.
  var finishedCount: Int { monitor.withLock { partsFinished } }

  /// Waits until more parts are finished than `count`; false when nobody is at any other than the caller's.
  func waitForAnother(since count: Int) throws -> Bool {
    try monitor.withLock {
      if partsFinished == count, takenCount == 1 { return false }
      try wait { partsFinished != count }
      return true
    }
  }

  private func isTurn(of task: Task, at row: Int) -> Bool {
    row < rowsGivenOut + blockHeight && turns[row % blockHeight] == task.position
  }

  private func tell(_ merged: inout Range<Int>, _ task: Task) {
    if merged.isEmpty { return }
    for row in merged { turns[row % blockHeight] = schedule.position(in: row, from: task.position + 1) }
    merged = 0..<0
    monitor.wakeAll()
  }

  // MARK: The thread that gives rows out

  /// Waits until all segments have merged a row.
  func waitUntilDone(_ row: Int) throws {
    try monitor.withLock {
      try wait { turns[row % blockHeight] == schedule.segments(in: row / blockHeight).count }
    }
  }

  /// Says that a row has been given out and its memory is clear, for the row that comes into its place.
  func giveOut(_ row: Int) {
    monitor.withLock {
      rowsGivenOut = row + 1
      let next = row + blockHeight
      if next < height { turns[row % blockHeight] = schedule.position(in: next, from: 0) }
      if rowsGivenOut % blockHeight == 0 { schedule.forget(row / blockHeight) }
      monitor.wakeAll()
    }
  }

  // MARK: Failures

  /// What went wrong first.
  var failure: (any Error)? { monitor.withLock { firstFailure } }

  /// Stops all who wait.
  func fail(_ error: any Error) {
    monitor.withLock {
      firstFailure = firstFailure ?? error
      monitor.wakeAll()
    }
  }

  private func wait(until condition: () -> Bool) throws {
    while true {
      if firstFailure != nil { throw Stopped() }
      if condition() { return }
      monitor.wait()
    }
  }
}
