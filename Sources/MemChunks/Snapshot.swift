import ChunkLedger
import Synchronization

/// One chunk that is not empty, as a snapshot shows it.
public struct ChunkInfo: Sendable, Equatable {
  /// What the chunk is called.
  public var label: String
  /// What its group is called; empty for the pool's own.
  public var group: String
  /// Where it stands.
  public var state: State
  /// Counted bytes.
  public var size: Int
  /// How often it was used since it was made, by uses that found it ready and by others.
  public var uses: UInt64
  /// How often it was generated.
  public var generations: Int
  /// What the last generation took, in nanoseconds.
  public var nanoseconds: UInt64

  /// The states of a chunk that is not empty.
  public enum State: String, Sendable {
    /// There, and nobody is using it.
    case ready
    /// There, and in use by a scope or a pin, or used in an open frame.
    case pinned
    /// Out of date, and still in use.
    case retired
    /// Being made.
    case generating
    /// Being freed.
    case freeing
  }
}

extension PoolCore {
  func snapshot() -> [ChunkInfo] {
    locked { _ in
      let now = self.table.now
      var rows: [(info: ChunkInfo, rank: Int, age: Double)] = []
      for (index, seat) in self.table.seats.enumerated() {
        seat.chunk?._withUnsafeGuaranteedRef { chunk in
          let slot = Slot(index)
          let use = self.table.use(of: slot)
          let state = self.state(of: chunk, seat.lane, slot, use.stamp)
          let info = ChunkInfo(
            label: chunk.label, group: chunk.group.label, state: state, size: self.ledger.size(of: slot),
            uses: chunk.totalUses, generations: Int(chunk.books.generations),
            nanoseconds: chunk.books.cost)
          let age = Double(now &- use.stamp) / self.ledger.weight(of: chunk.group.index)
          rows.append((info, state.rank, age))
        }
      }
      return rows.sorted { ($0.rank, -$0.age) < ($1.rank, -$1.age) }.map(\.info)
    }
  }

  private func state(of chunk: MemChunk, _ lane: Int, _ slot: Slot, _ stamp: UInt64) -> ChunkInfo.State {
    switch ledger.state(of: slot) {
    case .generating, .vacant: return .generating
    case .freeing: return .freeing
    case .retired: return .retired
    case .ready:
      let isUsed = ChunkWord.users(chunk.word.load(ordering: .relaxed), lane) > 0
      return isUsed || stamp > frames.protectedSince ? .pinned : .ready
    }
  }
}

extension ChunkInfo.State {
  /// Those that can be freed come first.
  fileprivate var rank: Int {
    switch self {
    case .freeing: 0
    case .ready: 1
    case .pinned: 2
    case .retired: 3
    case .generating: 4
    }
  }
}

extension ChunkPool {
  /// The chunks that are not empty, in the order in which they would be freed. O(n log n). Looking is not a use.
  public func snapshot() -> [ChunkInfo] { core.snapshot() }
}

extension ChunkPool: CustomStringConvertible {
  /// A table of what the pool counts and of the chunks that are not empty, the next victim first; at most forty rows.
  public var description: String {
    let numbers = statistics
    let rows = snapshot()
    var text = "ChunkPool: \(ByteCount(numbers.used)) of \(ByteCount(numbers.budget)) used"
    text += " (ready \(ByteCount(numbers.ready)), generating \(ByteCount(numbers.reserved)), being freed "
    text += "\(ByteCount(numbers.freeing)), free pages \(ByteCount(numbers.freePages)), "
    text += "pinned \(ByteCount(numbers.pinned)), peak \(ByteCount(numbers.peak)))\n"
    text += "\(counted(numbers.hits, "hit")), \(counted(numbers.misses, "miss", "misses")), "
    text += "\(counted(numbers.generations, "generation")), \(counted(numbers.frees, "free")), "
    text += "\(counted(numbers.failures, "failure")), \(counted(numbers.refusals, "refusal"))\n"
    guard !rows.isEmpty else { return text }
    let shown = rows.prefix(40)
    let table = [["chunk", "group", "state", "size", "uses", "made", "took"]] + shown.map(\.cells)
    let widths = (0..<7).map { column in table.map { $0[column].count }.max()! }
    for cells in table {
      var line = ""
      for (column, cell) in cells.enumerated() {
        let padding = String(repeating: " ", count: widths[column] - cell.count)
        // Names to the left, numbers to the right.
        line += (column < 3 ? cell + padding : padding + cell) + (column < 6 ? "  " : "")
      }
      while line.last == " " { line.removeLast() }
      text += line + "\n"
    }
    if rows.count > shown.count { text += "and \(rows.count - shown.count) more\n" }
    return text
  }
}

extension ChunkInfo {
  fileprivate var cells: [String] {
    let microseconds = nanoseconds / 1_000
    let took = microseconds < 10_000 ? "\(microseconds) us" : "\(microseconds / 1_000) ms"
    return [
      label.isEmpty ? "-" : Labels.escaped(label), group.isEmpty ? "-" : Labels.escaped(group), state.rawValue,
      "\(ByteCount(size))", "\(uses)",
      "\(generations)", took,
    ]
  }
}
