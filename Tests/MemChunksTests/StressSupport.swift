import MemChunks
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// How much the stress suites do.
enum Stress {
  /// `MEMCHUNK_STRESS_ROUNDS` in percent of the usual; 100 if it is not set.
  static let percent = getenv("MEMCHUNK_STRESS_ROUNDS").flatMap { Int(String(cString: $0)) } ?? 100

  /// So many rounds as a usual run does, scaled.
  static func rounds(_ usual: Int) -> Int { max(1, usual * percent / 100) }

  /// Does nothing for about so long.
  static func pause(microseconds: UInt32) { usleep(microseconds) }

  /// Whether a use may end like this: ready, refused, out of time, or by an error of the test's own making.
  static func allows(_ outcome: Outcome) -> Bool {
    switch outcome {
    case .ready, .noRoom, .recursive, .cancelled, .tooLarge: true
    case .failed(let below): below != .ready && allows(below)
    case .other(let words): words.hasPrefix("Mishap")
    case .closed, .invalidSize: false
    }
  }

  /// A new seed, or the one that `MEMCHUNK_STRESS_SEED` gives; printed, so that a failure can be looked at again.
  static func seed(_ name: String) -> UInt64 {
    let given = getenv("MEMCHUNK_STRESS_SEED").flatMap { UInt64(String(cString: $0)) }
    let seed = given ?? UInt64.random(in: 1..<1 << 32)
    print("\(name): MEMCHUNK_STRESS_SEED=\(seed)")
    return seed
  }
}

/// Looks at a pool all the time: promise 1 at every sample.
///
/// Lowering the budget is the one thing that may leave more counted than it allows. While that can be, `mayExceed`
/// is true, and what is above must be reported.
func sampler(of pool: ChunkPool, mayExceed: Bool = false) -> Sampler {
  Sampler {
    let numbers = pool.statistics
    precondition(numbers.used <= numbers.budget + numbers.overdraft, "more is counted than is allowed: \(numbers)")
    precondition(mayExceed || numbers.overdraft == 0, "an overdraft without a cause: \(numbers)")
    precondition(
      numbers.used >= numbers.ready + numbers.reserved + numbers.freeing - numbers.budget && numbers.pinned >= 0)
  }
}

/// The end of a stress: nothing is used, so nothing may be counted, and every product was freed once.
func checkNothingIsLeft(of pool: ChunkPool, sourceLocation: SourceLocation = #_sourceLocation) {
  let isQuiet = eventually {
    let numbers = pool.statistics
    return numbers.reserved == 0 && numbers.freeing == 0 && pool._waiting == 0
  }
  pool.freeAll()
  let numbers = pool.statistics
  pool._checkInvariants()
  #expect(isQuiet, sourceLocation: sourceLocation)
  #expect(numbers.used == 0, sourceLocation: sourceLocation)
  #expect(numbers.chunks == 0, sourceLocation: sourceLocation)
  #expect(numbers.pinned == 0, sourceLocation: sourceLocation)
}
