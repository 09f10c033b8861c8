import MemChunks
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl  // Not run here.
#elseif canImport(Darwin)
  import Darwin  // Not run here.
#endif

@Suite("The pool and its reference model")
struct ModelTests {
  /// `MEMCHUNK_MODEL_STEPS` says how many operations in all, and `MEMCHUNK_MODEL_SEED` where the seeds begin.
  private static func number(_ name: String) -> Int? { getenv(name).flatMap { Int(String(cString: $0)) } }

  private static let steps = number("MEMCHUNK_MODEL_STEPS") ?? 24_000
  private static let firstSeed = number("MEMCHUNK_MODEL_SEED") ?? 1
  /// A pool lives so many operations.
  private static let stepsPerSeed = 2_000
  private static let lanes = 2

  @Test("Long random sequences of all operations: victims, states and totals as the model says", arguments: 0..<lanes)
  func longSequences(lane: Int) {
    let seeds = max(1, Self.steps / Self.stepsPerSeed)
    var done = 0
    for number in stride(from: lane, to: seeds, by: Self.lanes) {
      let seed = Self.firstSeed + number
      let run = ModelRun(seed: UInt64(seed))
      run.run(steps: Self.stepsPerSeed)
      done += run.steps
      if let mistake = run.mistake {
        Issue.record("MEMCHUNK_MODEL_SEED=\(seed): \(mistake)")
        return
      }
    }
    #expect(done >= seeds / Self.lanes * Self.stepsPerSeed)
  }
}
