/// Pairs of a time and the recency stamp at that time: how long ago a use was, without a clock in every use.
///
/// At most 128 pairs. When they are full, every other one of the older half goes, so that the recent past is known
/// well and the distant past roughly. Guarded by the pool's lock.
struct AgeBook {
  private var pairs: [(time: UInt64, stamp: UInt64)] = []

  /// Notes that every use until now has a stamp of at most `stamp`, and every later one a higher stamp.
  mutating func note(stamp: UInt64, at time: UInt64) {
    if let last = pairs.last, time <= last.time {
      pairs[pairs.count - 1].stamp = max(last.stamp, stamp)
      return
    }
    pairs.append((time, stamp))
    guard pairs.count >= 128 else { return }
    let half = pairs.count / 2
    var kept = 0
    for index in pairs.indices where index >= half || index % 2 == 0 {
      pairs[kept] = pairs[index]
      kept += 1
    }
    pairs.removeLast(pairs.count - kept)
  }

  /// The highest stamp that is certainly so old, in nanoseconds; nil when nothing is.
  func stamp(before age: UInt64, now: UInt64) -> UInt64? {
    guard now >= age else { return nil }
    return pairs.last { $0.time <= now - age }?.stamp
  }
}
