/// A set of small numbers, one bit each.
package struct NumberSet {
  private var words: [UInt64]

  package init(size: Int) {
    words = Array(repeating: 0, count: (size + 63) / 64)
  }

  package mutating func insert(_ index: Int) { words[index >> 6] |= 1 << UInt64(index & 63) }
  package mutating func remove(_ index: Int) { words[index >> 6] &= ~(1 << UInt64(index & 63)) }

  /// The least member that is `index` or more.
  package func first(from index: Int) -> Int? {
    var word = index >> 6
    guard word < words.count else { return nil }
    var bits = words[word] & (~0 << UInt64(index & 63))
    while bits == 0 {
      word += 1
      guard word < words.count else { return nil }
      bits = words[word]
    }
    return word << 6 + bits.trailingZeroBitCount
  }

  /// The greatest member below `index`.
  package func last(below index: Int) -> Int? {
    guard index > 0 else { return nil }
    var word = (index - 1) >> 6
    var bits = words[word] & (~0 >> UInt64(63 - (index - 1) & 63))
    while bits == 0 {
      guard word > 0 else { return nil }
      word -= 1
      bits = words[word]
    }
    return word << 6 + 63 - bits.leadingZeroBitCount
  }
}
