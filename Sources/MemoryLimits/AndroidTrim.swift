public import MemChunks

/// What an Android app is told on its Java side. Not run here on Android.
///
///     override fun onTrimMemory(level: Int) { trimMemory(level) }   // and that calls AndroidTrim.report(level)
public enum AndroidTrim {
  private static let board = Board()

  /// Passes on the level of `ComponentCallbacks2.onTrimMemory(int)`.
  ///
  /// Returns after every `free()` that follows from it has returned, so that nothing is left to be done in the background.
  /// The levels of a running app last for ten seconds, as nobody tells of their end; those of the background until a lower
  /// level is reported, at the latest 0 when the app comes back.
  public static func report(_ level: Int) {
    for source in board.sources {
      source.send(pressure(at: level), lasting: (5...15).contains(level) ? .seconds(10) : nil)
    }
  }

  /// What a level of Android's means.
  public static func pressure(at level: Int) -> PressureLevel {
    switch level {
    // TRIM_MEMORY_RUNNING_CRITICAL, and TRIM_MEMORY_MODERATE and COMPLETE: the next to be killed.
    case 15, 60...: .critical
    // TRIM_MEMORY_RUNNING_MODERATE and LOW; TRIM_MEMORY_UI_HIDDEN and BACKGROUND.
    case 5...: .warning
    default: .normal
    }
  }

  /// A source that says what is reported here, while it is started.
  static var source: any PressureSource { TrimSource(board) }

  /// The sources that are started.
  fileprivate final class Board: @unchecked Sendable {
    private let lock = Lock()
    private var started: [ManualPressureSource] = []

    var sources: [ManualPressureSource] { lock.withLock { started } }
    func add(_ source: ManualPressureSource) { lock.withLock { started.append(source) } }
    func remove(_ source: ManualPressureSource) { lock.withLock { started.removeAll { $0 === source } } }
  }

  private final class TrimSource: PressureSource {
    private let board: Board
    private let inner = ManualPressureSource(name: "android")

    init(_ board: Board) {
      self.board = board
    }

    var name: String { inner.name }

    func start(_ report: @escaping @Sendable (PressureSignal) -> Void) throws(PressureSourceError) -> String {
      #if os(Android)
        _ = try inner.start(report)
        board.add(inner)
        return "AndroidTrim.report(_:)"
      #else
        throw PressureSourceError("this is not Android")
      #endif
    }

    func stop() {
      board.remove(inner)
      inner.stop()
    }
  }
}
