/// The objects that are in a cache, in a line from newest to oldest, with their bytes.
struct ObjectLine {
  private var newer: [Int32]
  private var older: [Int32]
  private(set) var newest: Int32 = -1
  private(set) var oldest: Int32 = -1
  private(set) var bytes = 0
  private let sizes: [Int]

  /// What stands for an object that is not in line.
  private static var out: Int32 { -2 }

  init(_ trace: Trace) {
    sizes = trace.objects.map(\.size)
    newer = Array(repeating: Self.out, count: sizes.count)
    older = newer
  }

  func contains(_ object: Int32) -> Bool { newer[Int(object)] != Self.out }
  func size(of object: Int32) -> Int { sizes[Int(object)] }
  func newerThan(_ object: Int32) -> Int32 { newer[Int(object)] }

  mutating func insert(_ object: Int32) {
    link(object)
    bytes += sizes[Int(object)]
  }

  mutating func remove(_ object: Int32) {
    unlink(object)
    newer[Int(object)] = Self.out
    bytes -= sizes[Int(object)]
  }

  mutating func makeNewest(_ object: Int32) {
    guard object != newest else { return }
    unlink(object)
    link(object)
  }

  private mutating func link(_ object: Int32) {
    newer[Int(object)] = -1
    older[Int(object)] = newest
    if newest >= 0 { newer[Int(newest)] = object } else { oldest = object }
    newest = object
  }

  private mutating func unlink(_ object: Int32) {
    let (before, after) = (newer[Int(object)], older[Int(object)])
    if before >= 0 { older[Int(before)] = after } else { newest = after }
    if after >= 0 { newer[Int(after)] = before } else { oldest = before }
  }
}

/// Exact least recently used. The ledger decides the same, less fast.
struct RecencyReplay: Replayer {
  private var line: ObjectLine
  private let budget: Int

  init(_ trace: Trace, budget: Int) {
    line = ObjectLine(trace)
    self.budget = budget
  }

  mutating func use(_ object: Int32) -> Bool {
    if line.contains(object) {
      line.makeNewest(object)
      return true
    }
    let size = line.size(of: object)
    guard size <= budget else { return false }
    while line.bytes + size > budget { line.remove(line.oldest) }
    line.insert(object)
    return false
  }
}

/// SIEVE: newcomers stand in line where they came; a hand goes from the oldest to the newest and round again, passes
/// once what was used since it last came, and takes what was not.
///
/// Source: Zhang and others, "SIEVE is simpler than LRU", 2024.
struct SieveReplay: Replayer {
  private var line: ObjectLine
  private var wasUsed: [Bool]
  private var hand: Int32 = -1
  private let budget: Int

  init(_ trace: Trace, budget: Int) {
    line = ObjectLine(trace)
    wasUsed = Array(repeating: false, count: trace.objects.count)
    self.budget = budget
  }

  mutating func use(_ object: Int32) -> Bool {
    if line.contains(object) {
      wasUsed[Int(object)] = true
      return true
    }
    let size = line.size(of: object)
    guard size <= budget else { return false }
    while line.bytes + size > budget { removeNext() }
    line.insert(object)
    wasUsed[Int(object)] = false
    return false
  }

  private mutating func removeNext() {
    var victim = hand >= 0 ? hand : line.oldest
    while wasUsed[Int(victim)] {
      wasUsed[Int(victim)] = false
      victim = line.newerThan(victim)
      if victim < 0 { victim = line.oldest }
    }
    hand = line.newerThan(victim)
    line.remove(victim)
  }
}
