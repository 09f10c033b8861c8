import Synchronization

/// What was generated and freed, in order.
public final class ChunkLog: Sendable {
  /// One step.
  public struct Entry: Hashable, Sendable, CustomStringConvertible {
    /// What happened.
    public enum Kind: Sendable { case generated, freed }

    /// What happened.
    public var kind: Kind
    /// To which chunk.
    public var label: String

    /// For messages of failed tests.
    public var description: String { (kind == .generated ? "+" : "-") + label }
  }

  private let entries = Locked<[Entry]>([])

  /// Makes an empty log.
  public init() {}

  /// Adds a step.
  public func append(_ kind: Entry.Kind, _ label: String) {
    entries.withLock { $0.append(Entry(kind: kind, label: label)) }
  }

  /// Everything until now.
  public var all: [Entry] { entries.current }

  /// The labels of what was freed, in order.
  public var freed: [String] { all.filter { $0.kind == .freed }.map(\.label) }

  /// The labels of what was generated, in order.
  public var generated: [String] { all.filter { $0.kind == .generated }.map(\.label) }

  /// Returns everything until now and forgets it.
  public func take() -> [Entry] {
    entries.withLock { entries in
      defer { entries = [] }
      return entries
    }
  }
}

/// The bytes that products really take, counted by themselves and not by the pool, with the most there ever were.
public final class ByteTally: Sendable {
  private let total = Atomic<Int>(0)
  private let most = Atomic<Int>(0)

  /// Begins at nothing.
  public init() {}

  /// Counts bytes that came, or that went if negative.
  public func add(_ bytes: Int) {
    let now = total.wrappingAdd(bytes, ordering: .acquiringAndReleasing).newValue
    most.max(now, ordering: .acquiringAndReleasing)
  }

  /// Bytes there now.
  public var bytes: Int { total.load(ordering: .acquiring) }

  /// The most bytes that were there at once.
  public var peak: Int { most.load(ordering: .acquiring) }
}
