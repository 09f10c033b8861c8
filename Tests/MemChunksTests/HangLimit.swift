import TestSupport
import Testing

extension TimeLimitTrait.Duration {
  /// Where a suite is ended that hangs although its tests watch for it.
  ///
  /// Long: tests run beside each other, and the time in which one waits for a thread counts, too.
  static var hang: Self { .minutes(max(1, 5 * patience / 60)) }
}
