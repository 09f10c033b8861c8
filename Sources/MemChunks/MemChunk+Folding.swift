import Synchronization

// What the word cannot count is counted in the books. All of it under the pool's lock.
extension MemChunk {
  /// Folds the fields of the word that are half full.
  final func relieveWord() {
    let now = word.load(ordering: .relaxed)
    if now & ChunkWord.usesGuard != 0 {
      word.wrappingSubtract(ChunkWord.usesGuard, ordering: .acquiringAndReleasing)
      books.foldedUses &+= ChunkWord.uses(ChunkWord.usesGuard)
    }
    guard now & ChunkWord.usersGuards != 0 else { return }
    for lane in 0..<2 where ChunkWord.users(now, lane) >= 2 * ChunkWord.foldedUsers { foldUsers(of: lane) }
  }

  /// Who holds what is folded cannot leave unseen meanwhile: at least as many stay in the word, and from this step on
  /// whoever leaves looks.
  private func foldUsers(of lane: Int) {
    let users = UInt64(ChunkWord.foldedUsers) * ChunkWord.oneUser(UInt64(lane))
    var now = word.load(ordering: .relaxed)
    while ChunkWord.users(now, lane) >= 2 * ChunkWord.foldedUsers {
      let (exchanged, original) = word.compareExchange(
        expected: now, desired: now - users | ChunkWord.folded, ordering: .acquiringAndReleasing)
      if exchanged { return folds[lane] += 1 }
      now = original
    }
  }

  /// Puts folded users back where the word has few left.
  final func unfoldUsers() {
    guard !folds.isEmpty else { return }
    for lane in 0..<2 {
      while folds[lane] > 0, ChunkWord.users(word.load(ordering: .acquiring), lane) < ChunkWord.fewUsers {
        let users = UInt64(ChunkWord.foldedUsers) * ChunkWord.oneUser(UInt64(lane))
        word.wrappingAdd(users, ordering: .acquiringAndReleasing)
        folds[lane] -= 1
      }
    }
    if folds.isEmpty { word.bitwiseAnd(~ChunkWord.folded, ordering: .acquiringAndReleasing) }
  }

  /// Whether more hold a lane's product than tokens do: some use of it ends by itself.
  final func isUsedByScope(_ word: UInt64, _ lane: Int) -> Bool {
    ChunkWord.users(word, lane) + Int(folds[lane]) * ChunkWord.foldedUsers > Int(tokens.load(ordering: .acquiring))
  }

  /// The same, of both lanes together.
  final func isUsedByScope(_ word: UInt64) -> Bool {
    let folded = (Int(folds[0]) + Int(folds[1])) * ChunkWord.foldedUsers
    return ChunkWord.usersOfBoth(word) + folded > Int(tokens.load(ordering: .acquiring))
  }
}

/// How often users of each lane were moved out of the word, `ChunkWord.foldedUsers` at a time: room for a thousand million
/// at once.
struct UserFolds {
  private var first: UInt16 = 0
  private var second: UInt16 = 0

  var isEmpty: Bool { first == 0 && second == 0 }

  subscript(lane: Int) -> UInt16 {
    get { lane == 0 ? first : second }
    set { if lane == 0 { first = newValue } else { second = newValue } }
  }
}
