/// Frees first what is cheapest to generate again, for its bytes and its uses: GreedyDual-Size-Frequency.
///
/// The key is `age + value`, with `value = sqrt(uses * (cost / size)^3)` and `age` the greatest key that went so far, so
/// that a chunk which is never used again is overtaken at last, however dear it was. `uses` counts all uses since the
/// chunk was made; freeing does not forget them.
///
/// The classic value is `uses * cost / size`. Its square root of `uses` keeps a chunk that was popular once from
/// staying for long; raising the whole to 3/2 sets dear and cheap further apart. The age is that of the last look, not of
/// the last use, so that a hit has nothing to write; and what is freed beyond the need is given back. On the traces that
/// these were compared on, each of the four made the sum of regeneration costs smaller or left it as it was.
///
/// Sources: Cao and Irani, "Cost-aware WWW proxy caching algorithms", 1997; Cherkasova, "Improving WWW proxies
/// performance with greedy-dual-size-frequency caching policy", 1998.
package struct CostAware: EvictOrder {
  /// The greatest key that went so far.
  private(set) var age = 0.0

  package init() {}

  package func key(for use: ChunkUse, size: Int) -> UInt64 { Self.key(for: use, size: size, age: age) }

  static func key(for use: ChunkUse, size: Int, age: Double) -> UInt64 {
    // What took no time that a clock can see is still made by something.
    let density = Double(max(1, use.cost)) / Double(max(1, size))
    let value = (Double(max(1, use.uses)) * density * density * density).squareRoot()
    // Numbers that are not negative are ordered as their bits are.
    return (age + value).bitPattern
  }

  package mutating func chose(key: UInt64) { age = max(age, Double(bitPattern: key)) }
  package var followsRecency: Bool { false }
  package var sparesExcess: Bool { true }
}
