import Synchronization

/// A clock that stands still until a test moves it on; for `ChunkPool(budget:time:)`.
///
///     let clock = ManualClock()
///     let pool = ChunkPool(budget: .bytes(10), time: clock.read)
///     clock.advance(by: .seconds(30))
public final class ManualClock: Sendable {
  private let nanoseconds: Atomic<UInt64>

  /// Makes a clock that does not begin at zero, so that "long ago" can be said from the start.
  public init(startingAt nanoseconds: UInt64 = 1_000_000_000) {
    self.nanoseconds = Atomic(nanoseconds)
  }

  /// The time, in nanoseconds.
  public var now: UInt64 { nanoseconds.load(ordering: .acquiring) }

  /// What a pool reads the time with.
  public var read: @Sendable () -> UInt64 { { [self] in now } }

  /// Moves the clock on.
  public func advance(by duration: Duration) {
    let (seconds, attoseconds) = duration.components
    let more = UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    nanoseconds.wrappingAdd(more, ordering: .acquiringAndReleasing)
  }
}
