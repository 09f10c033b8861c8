extension Duration {
  /// In nanoseconds, as the pool's clock counts: none where it is negative, and about seventy years where it is longer, so
  /// that a time of that clock can be added without wrapping. Also not beyond 2^62 with it, which Dispatch takes for a
  /// time that never comes: it forgets a task that sleeps until then, and the task's memory is lost.
  package var nanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let most: UInt64 = 1 << 61
    guard seconds < most / 1_000_000_000 else { return most }
    return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
  }
}
