import TestSupport
import Testing

/// A test that came to a stop: nothing after it can be trusted.
struct Hang: Error {}

/// Runs `body` on so many threads at once and throws if they do not all end.
func noHang(
  onThreads count: Int = 1, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: @escaping @Sendable (Int) -> Void
) async throws {
  if await ends(onThreads: count, body) { return }
  Issue.record("the threads hang", sourceLocation: sourceLocation)
  throw Hang()
}

/// Runs `body` as a task and throws if it does not end.
func noHangInTask(
  sourceLocation: SourceLocation = #_sourceLocation, _ body: @escaping @Sendable () async -> Void
) async throws {
  if await ends(body) { return }
  Issue.record("the task hangs", sourceLocation: sourceLocation)
  throw Hang()
}
