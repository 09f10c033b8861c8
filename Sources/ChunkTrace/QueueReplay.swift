import ChunkLedger

/// The objects that are in a cache, in a line from newest to oldest, with their bytes.
struct ObjectLine {
  private var newer: [Int32]
  private var older: [Int32]
  private(set) var newest: Int32 = -1
  private(set) var oldest: Int32 = -1
  /// Bytes of what is in line, and of what there is room for.
  private(set) var bytes = 0
  /// Bytes of what there is room for and that is not in line yet.
  private var reserved = 0
  private let sizes: [Int]
  private let peaks: [Int]

  /// What stands for an object that is not in line.
  private static var out: Int32 { -2 }

  init(_ trace: Trace) {
    sizes = trace.objects.map(\.size)
    peaks = trace.objects.map(\.peak)
    newer = Array(repeating: Self.out, count: sizes.count)
    older = newer
  }

  func contains(_ object: Int32) -> Bool { newer[Int(object)] != Self.out }

  /// How many bytes may stay when there is to be room for an object; nil where it would not fit if all in line went.
  func bytesBeside(_ object: Int32, budget: Int) -> Int? {
    let rest = budget - peaks[Int(object)]
    return rest >= reserved ? rest : nil
  }

  func newerThan(_ object: Int32) -> Int32 { newer[Int(object)] }

  mutating func reserve(_ object: Int32) {
    reserved += peaks[Int(object)]
    bytes += peaks[Int(object)]
  }

  /// What there was room for stands in line as the newest.
  mutating func insert(_ object: Int32) {
    link(object)
    reserved -= peaks[Int(object)]
    bytes += sizes[Int(object)] - peaks[Int(object)]
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

  mutating func begin(_ object: Int32, inside outer: Int32) -> ReplayStep {
    if line.contains(object) {
      line.makeNewest(object)
      return .hit
    }
    guard let rest = line.bytesBeside(object, budget: budget) else { return .refused }
    while line.bytes > rest { line.remove(line.oldest) }
    line.reserve(object)
    return .room
  }

  mutating func end(_ object: Int32) { line.insert(object) }
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

  mutating func begin(_ object: Int32, inside outer: Int32) -> ReplayStep {
    if line.contains(object) {
      wasUsed[Int(object)] = true
      return .hit
    }
    guard let rest = line.bytesBeside(object, budget: budget) else { return .refused }
    while line.bytes > rest { removeNext() }
    line.reserve(object)
    return .room
  }

  mutating func end(_ object: Int32) {
    line.insert(object)
    wasUsed[Int(object)] = false
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
