/// One's turn at taking a part and making room for its layers, until it is ended.
///
/// Belongs to the thread that made it.
final class Turn {
  private let monitor: Monitor
  private(set) var isOn = true

  /// Waits until it is the caller's turn.
  init(_ monitor: Monitor) {
    self.monitor = monitor
    monitor.lock()
  }

  /// Lets others have theirs. A second call does nothing.
  func end() {
    guard isOn else { return }
    isOn = false
    monitor.unlock()
  }
}
