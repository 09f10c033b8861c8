import ChunkLedger

/// An order of victims that a trace can be replayed under.
public enum ReplayPolicy: String, CaseIterable, Sendable {
  /// Exact least recently used: a pool's default.
  case lru
  /// A pool's `.costAware`.
  case costAware
  /// A pool's `.adaptive`.
  case adaptive
  /// Cost-aware with uses that fade, one of the orders that `.adaptive` chooses from.
  case crd
  /// GreedyDual-Size-Frequency as it was published, for comparison.
  case gdsf
  /// SIEVE, for comparison: a queue whose hand passes what was used since (Zhang and others, 2024).
  case sieve
  /// Knows the future: frees what costs least for its bytes and the time until its next use. No pool can do that.
  case offline
}

/// How a miss makes room.
public enum ReplayMode: Sendable {
  /// As a pool does: room first, so that the budget holds at every instant; the newcomer is safe until the next request.
  case hard
  /// As libCacheSim does: GDSF inserts the newcomer first, which may then be the one to go, forgets the uses of what went, and
  /// takes all costs for equal. For comparing with that program's numbers only; the pool's own policies are the same in
  /// both modes.
  case libCacheSim
}

/// What came of a replay.
public struct ReplayResult: Sendable, Equatable {
  /// How many requests there were, with those that generations made and those that plans make.
  public internal(set) var requests = 0
  /// How many found nothing: each is a generation.
  public internal(set) var misses = 0
  /// Bytes that were asked for.
  public internal(set) var requestedBytes = 0
  /// Bytes that had to be generated.
  public internal(set) var missedBytes = 0
  /// What that took, in nanoseconds.
  public internal(set) var missedCost: UInt64 = 0
  /// For each of the trace's objects how often it was missed; planned work is not about objects.
  public internal(set) var missesOfObjects: [Int32] = []

  /// Misses among requests, from 0 to 1.
  public var missRatio: Double { requests > 0 ? Double(misses) / Double(requests) : 0 }
  /// Bytes missed among bytes requested, from 0 to 1.
  public var byteMissRatio: Double { requestedBytes > 0 ? Double(missedBytes) / Double(requestedBytes) : 0 }
}

extension Trace {
  /// Serves all requests from nothing, within a budget in bytes, and counts what had to be generated.
  ///
  /// Every request counts, from the first. An object larger than the budget is a miss that frees nothing. A miss asks for what
  /// the object needs, after room has been made for it, as a pool does; what does not fit beside what it is needed for is a
  /// miss that frees nothing, where a pool would throw. The policies that a pool has are decided by the pool's own ledger.
  ///
  /// O(requests) for `lru` and `sieve`; O(requests * log(objects)) for the others but `offline`, which looks at everything that
  /// is ready for every miss.
  public func replay(_ policy: ReplayPolicy, budget: Int, mode: ReplayMode = .hard) -> ReplayResult {
    var result = replayRequests(policy, budget, mode)
    let planned = planned(for: budget)
    result.requests += planned.generations
    result.misses += planned.generations
    result.requestedBytes = result.requestedBytes.addingOrMost(planned.generatedBytes)
    result.missedBytes = result.missedBytes.addingOrMost(planned.generatedBytes)
    result.missedCost = result.missedCost.addingOrMost(planned.nanoseconds)
    return result
  }

  private func replayRequests(_ policy: ReplayPolicy, _ budget: Int, _ mode: ReplayMode) -> ReplayResult {
    switch policy {
    case .lru: return run(RecencyReplay(self, budget: budget))
    case .sieve: return run(SieveReplay(self, budget: budget))
    case .gdsf: return run(FrequencyReplay(self, budget: budget, mode: mode))
    case .costAware: return run(LedgerReplay(self, budget: budget, order: CostAware()))
    case .crd: return run(LedgerReplay(self, budget: budget, order: DecayingUse(capacity: capacity)))
    case .adaptive: return run(LedgerReplay(self, budget: budget, order: Adaptive()))
    case .offline: return run(OfflineReplay(self, budget: budget))
    }
  }

  /// A power of two, so that all objects are told apart.
  var capacity: Int {
    var capacity = 1
    while capacity <= objects.count { capacity *= 2 }
    return capacity
  }
}
