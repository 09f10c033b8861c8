extension Duration {
  /// In nanoseconds, as the pool's clock counts: none where it is negative, and about a hundred and fifty years where it
  /// is longer, so that a time of that clock can be added without wrapping.
  var nanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let most: UInt64 = 1 << 62
    guard seconds < most / 1_000_000_000 else { return most }
    return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
  }
}
