public import MemChunks

/// What a source of pressure has to say.
public struct PressureSignal: Sendable, Equatable {
  /// How short memory is.
  public var level: PressureLevel
  /// For how long it is so, if the source says nothing else; nil until it does. A system that only tells of events does not
  /// tell of their end.
  public var duration: Duration?

  /// A level, and for how long it lasts.
  public init(_ level: PressureLevel, lasting duration: Duration? = nil) {
    self.level = level
    self.duration = duration
  }
}

/// Why a source does not work here.
public struct PressureSourceError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What is missing, in one line that names the file or the variable.
  public var description: String

  /// An error of one line of text.
  public init(_ description: String) {
    self.description = description
  }
}

/// Something that tells how short memory is: a file of the system's, a notification, a test.
///
/// A source only reports. What follows is the pool's, through a `PressureMonitor`.
public protocol PressureSource: AnyObject, Sendable {
  /// What the source is called, in one word: `psi`.
  var name: String { get }

  /// Begins to report, and says what it watches, in one line for people.
  ///
  /// Called at most once. `report` may be called on any thread, also before this returns; it returns after the pools have
  /// freed what they had to.
  ///
  /// - Throws: `PressureSourceError` where the system has no such thing; then nothing is left open.
  func start(_ report: @escaping @Sendable (PressureSignal) -> Void) throws(PressureSourceError) -> String

  /// Ends it: lets go of every file, observer and thread. Never waits; a report that is under way ends by itself. Called at
  /// most once, after `start` has succeeded.
  func stop()
}

/// A source that says what it is told to: for tests, and for systems that tell the program and not us.
///
///     let source = ManualPressureSource()
///     let monitor = PressureMonitor([source])
///     source.send(.critical)
public final class ManualPressureSource: PressureSource, @unchecked Sendable {
  /// What the source is called.
  public let name: String
  private let lock = Lock()
  // Guarded by the lock.
  private var report: (@Sendable (PressureSignal) -> Void)?

  /// A source of this name.
  public init(name: String = "manual") {
    self.name = name
  }

  /// Begins to pass on what is sent.
  public func start(_ report: @escaping @Sendable (PressureSignal) -> Void) throws(PressureSourceError) -> String {
    lock.withLock { self.report = report }
    return "what the program says"
  }

  /// Passes nothing on from here.
  public func stop() {
    // Letting go of a closure may run a deinit, which is nothing to be done under a lock.
    var old: (@Sendable (PressureSignal) -> Void)?
    lock.withLock { swap(&old, &report) }
  }

  /// Passes a level on, for so long or until the next. Returns after every `free()` that follows from it has returned.
  public func send(_ level: PressureLevel, lasting duration: Duration? = nil) {
    lock.withLock({ report })?(PressureSignal(level, lasting: duration))
  }
}
