/// A line on the terminal that says how far a program is and how long it will take; nothing where standard error is
/// not a terminal.
public struct ProgressLine {
  private let task: String
  private let isShown: Bool
  private let start = ContinuousClock.now
  private var shown = ""

  /// Begins a line about a task, for example "composing".
  public init(_ task: String) {
    self.task = task
    isShown = Console.errorIsTerminal
  }

  /// Shows that `done` of `total` steps are done; cheap when that looks the same as before.
  public mutating func update(_ done: Int, of total: Int) {
    guard isShown, total > 0 else { return }
    let text = Self.text(task, done, of: total, after: ContinuousClock.now - start)
    if text == shown { return }
    shown = text
    // What is left of a longer line is erased.
    Console.error("\r\(text)\u{1b}[K")
  }

  /// Removes the line, so that what is written next begins on a clean one.
  public mutating func clear() {
    if !shown.isEmpty { Console.error("\r\u{1b}[K") }
    shown = ""
  }

  /// What the line says. The time left is judged by the time per step so far, which means little in the first second.
  public static func text(_ task: String, _ done: Int, of total: Int, after elapsed: Duration) -> String {
    let percentage = "\(task) \(Int(Double(done) / Double(total) * 100)) %"
    guard done > 0, done < total, elapsed >= .seconds(1) else { return percentage }
    let left = elapsed / .seconds(1) / Double(done) * Double(total - done)
    return "\(percentage), \(duration(seconds: left)) left"
  }

  /// Rounded up, and more coarsely the longer it is.
  private static func duration(seconds: Double) -> String {
    // Nobody reads a larger number than this, and it fits.
    let seconds = Int(min(seconds, 1e9).rounded(.up))
    if seconds < 60 { return "\(seconds) s" }
    if seconds < 3_600 { return "\(seconds / 60) min \(seconds % 60) s" }
    return "\(seconds / 3_600) h \(seconds % 3_600 / 60) min"
  }
}
