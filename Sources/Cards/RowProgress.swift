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
    /// How many parts were taken before.
    fileprivate let number: Int
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
  /// The blocks of the parts that threads are at.
  private var blocksTaken: [Int] = []
  private var partsTaken = 0
  private var partsFinished = 0
  /// The parts that meet, by number; empty when the last of them has come, or when not all can.
  private var meeting: Range<Int>
  private var rowsGivenOut = 0
  /// Whose turn it is at each row in memory: a position among the block's segments, or their count when it is done.
  private var turns: [Int] = []
  private var firstFailure: (any Error)?

  init(_ segments: [Segment], height: Int, blockHeight: Int, meeting: Range<Int>) {
    self.height = height
    self.blockHeight = blockHeight
    self.meeting = meeting
    schedule = BlockSchedule(segments.map(\.rows), height: height, blockHeight: blockHeight)
    isTaken = Array(repeating: false, count: segments.count)
    for row in 0..<min(blockHeight, height) { turns.append(schedule.position(in: row, from: 0)) }
  }

  // MARK: Threads that compose

  /// Takes the next part, once nobody is at its segment any more, nor at a block above the last; nil when there is none
  /// left. It could not merge a row before, and the memory plan counts on it.
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
        try wait { !isTaken[segment] && blocksTaken.allSatisfy { $0 >= nextBlock - 1 } }
        isTaken[segment] = true
        blocksTaken.append(nextBlock)
        defer { (nextPosition, partsTaken) = (nextPosition + 1, partsTaken + 1) }
        let start = nextBlock * blockHeight
        return Task(
          segment: segment, number: partsTaken, position: nextPosition, rows: start..<min(start + blockHeight, height))
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

  /// Says that a part's layers have their room.
  func begin(_ task: Task) {
    monitor.withLock {
      if task.number == meeting.upperBound - 1 { endMeeting() }
    }
  }

  /// Says that all rows of a part are merged, and waits until it may let go of its layers.
  ///
  /// Parts let go in their order, and those that the memory plan's peak is made of when all of them have begun: so what is
  /// foretold is what is counted, whichever thread is slow or late.
  func merge(_ task: Task, _ merged: Range<Int>) throws {
    try monitor.withLock {
      var merged = merged
      tell(&merged, task)
      try wait { partsFinished == task.number && !meeting.contains(task.number) }
    }
  }

  /// Lets nobody wait for parts that may not come, as there are fewer threads than planned.
  func callOffMeeting() {
    monitor.withLock { endMeeting() }
  }

  private func endMeeting() {
    meeting = 0..<0
    monitor.wakeAll()
  }

  /// Gives the segment back.
  func finish(_ task: Task) {
    monitor.withLock {
      isTaken[task.segment] = false
      blocksTaken.remove(at: blocksTaken.firstIndex(of: task.rows.lowerBound / blockHeight)!)
      partsFinished += 1
      monitor.wakeAll()
    }
  }

  /// How many parts are finished.
  var finishedCount: Int { monitor.withLock { partsFinished } }

  /// Waits until more parts are finished than `count`; false when nobody is at any other than the caller's.
  ///
  /// For a part that finds no room: somebody else has it, so that the others are not to wait for this one.
  func waitForAnother(since count: Int) throws -> Bool {
    try monitor.withLock {
      endMeeting()
      if partsFinished == count, blocksTaken.count == 1 { return false }
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
