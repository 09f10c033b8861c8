import ChunkLedger

/// Which chunks a pool frees first.
///
///     let pool = ChunkPool(budget: .megabytes(32), policy: .costAware)
public struct EvictPolicy: Sendable {
  /// Makes the order of one pool: what an order gathers belongs to its pool alone.
  let makeOrder: @Sendable () -> PoolOrder

  /// Exact least recently used: the default.
  public static let lru = EvictPolicy { PoolOrder(.recency) }

  /// What is cheapest to generate again, for its bytes and its uses, goes first: `generate()` is timed, and uses are remembered
  /// when a product is freed. A chunk that needs others for `generate()` costs what generating it now would: more while
  /// one of them is not ready. So a compact picture outlives the pixels that are made from it. Which others are needed is
  /// learned where a chunk generates while one of them is missing.
  ///
  /// A chunk that is never used again goes in the end, however dear it was. Groups' weights do not apply. Sources: Cao and
  /// Irani, 1997; Cherkasova, 1998 (GreedyDual-Size-Frequency).
  public static let costAware = EvictPolicy { PoolOrder(.costAware) }

  /// Follows whichever is cheapest as it goes: `.lru`, `.costAware`, or cost-aware by uses that fade.
  ///
  /// What each would have freed is worked out for the last 32 768 chunks, in at most 400 bytes a chunk and 12 MB. Hits are
  /// reported to that by a bounded buffer: a hit takes about 0.4 microseconds more, and what does not fit while several
  /// threads hit at once is left out of the comparison. Groups' weights do not apply.
  public static let adaptive = EvictPolicy { PoolOrder(.adaptive) }

  /// An order of your own.
  public static func custom(_ order: some VictimOrder) -> EvictPolicy { EvictPolicy { PoolOrder(.custom, order) } }
}

/// An order of victims of your own: the chunk whose key is least goes first.
///
/// Its methods run under the pool's lock, unlike all other code of yours: they must be quick, and must not use the pool, its
/// chunks, or a lock that somebody holds while using them. Builds with assertions check what they can: that the same
/// use has the same key, and that a key does not fall by a further use.
public protocol VictimOrder: Sendable {
  /// The place in the line. Must depend on nothing but the arguments and what `freed` changed, must not fall when a chunk is
  /// used again, and must be a number. It is asked again only after a use, so it must not depend on time.
  func key(for use: VictimUse) -> Double

  /// A chunk with this key was freed, for orders that age what stays. Keys must not fall by that either.
  mutating func freed(key: Double)
}

extension VictimOrder {
  /// Does nothing.
  public mutating func freed(key: Double) {}
}

/// How a ready chunk has been used.
public struct VictimUse: Sendable, Equatable {
  /// When it was last used, on a counter that only rises.
  public var lastUse: UInt64
  /// How often it has been used since it was made, over all its products.
  public var uses: UInt64
  /// What generating the product now would take, in nanoseconds: what it took by itself, and what it took to generate
  /// those chunks that it needed and that are not ready.
  public var nanoseconds: UInt64
  /// Bytes of the product.
  public var size: Int
}

/// The order of one pool: which of the ledger's it is is only known at run time.
struct PoolOrder: EvictOrder {
  enum Kind { case recency, costAware, adaptive, custom }

  // Beside each other, so that each can be changed in place.
  private let kind: Kind
  private var costAware = CostAware()
  private var adaptive: Adaptive?
  private var custom: (any VictimOrder)?

  init(_ kind: Kind, _ custom: (any VictimOrder)? = nil) {
    self.kind = kind
    self.custom = custom
    if kind == .adaptive { adaptive = Adaptive() }
  }

  func key(for use: ChunkUse, size: Int) -> UInt64 {
    switch kind {
    case .recency: use.stamp
    case .costAware: costAware.key(for: use, size: size)
    case .adaptive: adaptive!.key(for: use, size: size)
    case .custom: Self.bits(of: checkedKey(custom!, use, size))
    }
  }

  mutating func chose(key: UInt64) {
    switch kind {
    case .recency: break
    case .costAware: costAware.chose(key: key)
    case .adaptive: adaptive!.chose(key: key)
    case .custom: custom!.freed(key: Self.number(of: key))
    }
  }

  var followsRecency: Bool { kind == .recency || kind == .adaptive && adaptive!.followsRecency }
  var sparesExcess: Bool { kind == .costAware || kind == .adaptive && adaptive!.sparesExcess }
  var weighsCosts: Bool { kind != .recency }
  var wantsRequests: Bool { kind == .adaptive }
  mutating func note(_ request: OrderedRequest) { adaptive?.note(request) }
  mutating func takeKeyChange() -> Bool { adaptive?.takeKeyChange() ?? false }

  private func checkedKey(_ order: any VictimOrder, _ use: ChunkUse, _ size: Int) -> Double {
    var asked = VictimUse(lastUse: use.stamp, uses: use.uses, nanoseconds: use.cost, size: size)
    let key = order.key(for: asked)
    assert(!key.isNaN, "\(order): the key of \(asked) is no number")
    assert(order.key(for: asked) == key, "\(order): the key of \(asked) is another each time")
    asked.lastUse += 1
    asked.uses += 1
    assert(order.key(for: asked) >= key, "\(order): the key falls by a use to \(asked)")
    return key
  }

  /// Numbers in the order of their bits: of what is negative all are turned, of the rest the sign.
  private static func bits(of key: Double) -> UInt64 {
    let bits = (key.isNaN ? 0 : key).bitPattern
    return bits >> 63 == 1 ? ~bits : bits | 1 << 63
  }

  private static func number(of bits: UInt64) -> Double {
    Double(bitPattern: bits >> 63 == 1 ? bits & ~(1 << 63) : ~bits)
  }
}
