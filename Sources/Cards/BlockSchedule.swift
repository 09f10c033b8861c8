/// Which segments have something to do in each block of rows.
///
/// Worked out block by block, so that a thousand small layers on a tall canvas cost what they reach, and not the product
/// of layers and blocks.
struct BlockSchedule {
  private let rows: [Range<Int>]
  private let blockHeight: Int
  /// How many blocks there are.
  let blockCount: Int
  /// The segments by the block in which they begin; those before `begun` have been added.
  private let order: [Int]
  private var begun = 0
  private var active: [Int] = []
  /// The segments of some blocks, the last of which is the one before `nextBlock`.
  private var lists: [Int: [Int]] = [:]
  private var nextBlock = 0

  /// `rows` are those that each segment changes.
  init(_ rows: [Range<Int>], height: Int, blockHeight: Int) {
    self.rows = rows
    self.blockHeight = blockHeight
    blockCount = (height + blockHeight - 1) / blockHeight
    order = rows.indices.sorted { rows[$0].lowerBound < rows[$1].lowerBound }
  }

  /// The segments that change a row of a block, in the order in which they are to be merged.
  mutating func segments(in block: Int) -> [Int] {
    while nextBlock <= block { addBlock() }
    // Blocks are forgotten only when they are done.
    return lists[block]!
  }

  /// The first of a block's segments, from `position` in their list on, that changes a row; the list's end if none does.
  mutating func position(in row: Int, from position: Int) -> Int {
    let list = segments(in: row / blockHeight)
    var position = position
    while position < list.count, !rows[list[position]].contains(row) { position += 1 }
    return position
  }

  /// Forgets a block that is done.
  mutating func forget(_ block: Int) {
    lists[block] = nil
  }

  private mutating func addBlock() {
    let start = nextBlock * blockHeight
    active.removeAll { rows[$0].upperBound <= start }
    let first = begun
    while begun < order.count, rows[order[begun]].lowerBound < start + blockHeight { begun += 1 }
    if first < begun {
      active += order[first..<begun]
      active.sort()
    }
    lists[nextBlock] = active
    nextBlock += 1
  }
}
