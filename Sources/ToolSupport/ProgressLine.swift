/// A line on the terminal that says how far a program is; nothing where standard error is not a terminal.
public struct ProgressLine {
  private let task: String
  private let isShown: Bool
  private var lastPercent = -1

  /// Begins a line about a task, for example "composing".
  public init(_ task: String) {
    self.task = task
    isShown = Console.errorIsTerminal
  }

  /// Shows that `done` of `total` steps are done; cheap when the percentage has not changed.
  public mutating func update(_ done: Int, of total: Int) {
    guard isShown, total > 0 else { return }
    let percent = done * 100 / total
    if percent == lastPercent { return }
    lastPercent = percent
    Console.error("\r\(task) \(percent) %")
  }

  /// Removes the line, so that what is written next begins on a clean one.
  public mutating func clear() {
    if lastPercent >= 0 { Console.error("\r\u{1b}[K") }
    lastPercent = -1
  }
}
