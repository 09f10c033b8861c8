/// The layout of a chunk's atomic word.
///
///      63 ........ 40 | 39 ....... 24 | 23 ....... 8 | 7 |    6    |   5    |   4  |   3     |     2      |   1    |   0
///      uses           | users, lane 1 | users, lane 0|   | watched | folded | lane | retired | scope park | parked | ready
///
/// One addition counts a use and its user, one subtraction ends it. Each field has a guard bit on top: a word in
/// which a guard is set takes the slow path, which folds the field, here before 32 768 users at once could spill into the
/// next one: uses into a wide counter, users into the books, `foldedUsers` at a time. Users are put back long before the
/// word has none, so a word without users still says that there are none; `folded` makes who leaves look for that.
///
/// A lane is one product. A chunk that can keep an old product for those who are using it while a new one is
/// generated has two, and `lane` says which is current. A user must count itself in the lane that it uses and leave
/// the same lane, so it reads the lane first; if the lane changed in between, the addition shows it, and the user
/// takes itself back.
@usableFromInline
enum ChunkWord {
  /// The current lane's product is there.
  @usableFromInline static let ready: UInt64 = 1 << 0
  /// Found in use by somebody who was looking for victims: the end of that use must be reported.
  static let parked: UInt64 = 1 << 1
  /// Parked while at least one user was a scope, which others may wait for.
  static let parkedByScope: UInt64 = 1 << 2
  /// The other lane's product is out of date and still in use.
  static let retired: UInt64 = 1 << 3
  @usableFromInline static let laneShift: UInt64 = 4
  @usableFromInline static let lane: UInt64 = 1 << laneShift
  /// Some users are counted in the books.
  static let folded: UInt64 = 1 << 5
  /// Hits are reported: a recorder or the order of victims wants to hear of them.
  @usableFromInline static let watched: UInt64 = 1 << 6
  static let notices = parked | retired | folded

  @usableFromInline static let oneUse: UInt64 = 1 << 40
  @usableFromInline static let usesGuard: UInt64 = 1 << 63
  @usableFromInline static let usersGuards: UInt64 = 1 << 23 | 1 << 39

  /// How many users are folded at once: half of what sets the guard.
  static let foldedUsers = 1 << 14
  /// With fewer users in the word, folded ones are put back. Threads that leave at the same time count themselves out
  /// before they look, so there must be more of these than threads.
  static let fewUsers = 1 << 13

  /// What must be exactly "ready" for a touch to be a hit.
  @usableFromInline static let touchMask = ready | usesGuard | watched
  /// What must be exactly "ready, in this lane" for a scope to be a hit.
  @usableFromInline static let scopeMask = ready | lane | usesGuard | usersGuards | watched

  @inlinable
  static func oneUser(_ lane: UInt64) -> UInt64 { 1 &<< (8 &+ 16 &* lane) }

  static func users(_ word: UInt64, _ lane: Int) -> Int { Int(word >> UInt64(8 + 16 * lane)) & 0xFFFF }
  static func usersOfBoth(_ word: UInt64) -> Int { users(word, 0) + users(word, 1) }
  static func uses(_ word: UInt64) -> UInt64 { word >> 40 }
  static func currentLane(_ word: UInt64) -> Int { Int(word >> laneShift & 1) }
}

/// What the pool remembers of a chunk under its lock.
struct ChunkBooks {
  /// The ledger's number of each lane's product; -1 where there is none.
  var slots: (Int32, Int32) = (-1, -1)
  /// The product that is being made now.
  var generation: Generation?
  /// How often the product was generated.
  var generations: UInt32 = 0
  /// Rises with each invalidation, so that what was asked before it is asked again.
  var version: UInt32 = 0
  /// Uses that no longer fit in the word.
  var foldedUses: UInt64 = 0
  /// Uses already added to the pool's total.
  var countedUses: UInt64 = 0
  /// What the last generation took by itself, in nanoseconds; remembered when the product is freed.
  var cost: UInt64 = 0
  /// What it needed, or who needs it, where that is known.
  var card: CostCard?
  /// The pool's count of freed bytes when room was made with this chunk; 0 for never.
  var freedAt: UInt64 = 0

  var hasSlot: Bool { slots.0 >= 0 || slots.1 >= 0 }

  subscript(lane: Int) -> Int32 {
    get { lane == 0 ? slots.0 : slots.1 }
    set { if lane == 0 { slots.0 = newValue } else { slots.1 = newValue } }
  }
}

/// What a chunk said before room was made for it.
struct ChunkQuote {
  /// Bytes of the product.
  var size: Int
  /// Bytes while it is generated.
  var peak: Int
  /// How many of them are the arena's pages, in bytes.
  var arenaBytes = 0
  /// The recipe that this size belongs to.
  var recipe: AnyObject?
  /// The chunk's version when it was asked.
  var version: UInt32 = 0

  init(size: Int, peak: Int, arenaBytes: Int = 0, recipe: AnyObject? = nil) {
    self.size = size
    self.peak = peak
    self.arenaBytes = arenaBytes
    self.recipe = recipe
  }

  var reservation: Int { max(size, peak) }
}
