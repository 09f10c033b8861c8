/// Random numbers that are the same for a seed on every machine (SplitMix64). The module has one of its own because it
/// must run where there is nothing but the ledger.
package struct ModelRandom {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
    return value ^ value >> 31
  }

  /// A number from 0 up to, not including, `limit`. The bias of the remainder is of no account here.
  package mutating func below(_ limit: Int) -> Int { Int(truncatingIfNeeded: next() % UInt64(limit)) }

  /// A number of the range, its ends included.
  package mutating func from(_ least: Int, to most: Int) -> Int { least + below(most - least + 1) }

  /// True so many times in a hundred.
  package mutating func percent(_ chance: Int) -> Bool { below(100) < chance }

  /// One of the elements; nil when there are none.
  package mutating func pick<Element>(_ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[below(elements.count)]
  }
}
