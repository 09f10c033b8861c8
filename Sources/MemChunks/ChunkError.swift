/// Why a chunk is not ready. Every case says what was needed, what there was, and who holds it.
public enum ChunkError: Error, Sendable {
  /// It can never fit: it needs more than the budget, or more than its group's limit. Nothing was freed
  /// and nothing generated.
  ///
  /// - Parameters:
  ///   - label: the chunk's label; several labels, or how many are unlabelled, where several were wanted at once.
  ///   - needed: bytes.
  ///   - limit: the budget or the group's limit, in bytes.
  ///   - group: the label of the group whose limit it is; nil for the budget.
  case tooLarge(label: String, needed: Int, limit: Int, group: String?)

  /// There is no room now, and waiting was not possible or not allowed. Nothing was freed for it, unless a chunk
  /// handed its memory back late.
  case noRoom(NoRoom)

  /// Chunks need each other in a ring: the labels in order, the first again at the end.
  case recursive([String])

  /// `generate()` threw. The failure is not remembered: the next use tries again.
  case generationFailed(label: String, underlying: any Error)

  /// The task was cancelled; or a deadline passed while it waited for another's generation, or while the chunk was
  /// invalidated before it was there, again and again.
  case cancelled(label: String, atDeadline: Bool)

  /// The pool's handle is gone, or this process is a fork of the one that made the pool.
  case poolClosed(label: String, afterFork: Bool)

  /// `size` is negative or absurdly large, or a working peak is.
  case invalidSize(label: String, size: Int)

  /// The numbers at the moment of a refusal.
  public struct NoRoom: Error, Sendable, Equatable {
    /// Who wanted room.
    public var label: String
    /// Bytes needed.
    public var needed: Int
    /// Bytes that were free.
    public var free: Int
    /// The budget, in bytes.
    public var budget: Int
    /// Bytes in use by scopes and pins.
    public var pinned: Int
    /// Bytes used in an open frame, beside those pinned.
    public var framed: Int
    /// Bytes promised to generations that are running.
    public var reserved: Int
    /// Bytes whose `free()` has not finished, or comes late.
    public var freeing: Int
    /// Labels of some that hold the room, the dearest first; at most four.
    public var holders: [String]
    /// Labels of the groups that count bytes which nobody can free, because the thread that they are bound to has ended;
    /// see `ChunkGroup.bindToCurrentThread(wake:)`.
    public var strandedGroups: [String]
    /// Why the request did not wait.
    public var reason: Reason

    /// Why a request was refused instead of waiting.
    public enum Reason: String, Sendable {
      /// It came from inside a scope, a frame or another generation, which must not wait for pins.
      case holdsOthers = "a request from inside a scope, a frame or a generation does not wait for pins"
      /// It came from inside `free()`, an observer or the deinit of what the pool let go of, where nothing waits.
      case insideFree = "nothing waits inside free(), an observer or a deinit that the pool runs"
      /// Only pin tokens or frame tokens hold the room, and those belong to no thread; give a deadline to wait.
      case heldByTokens = "only tokens hold the room; give a deadline to wait for them"
      /// The deadline passed.
      case deadline = "the deadline passed"
      /// A prefetch frees only what was not used lately.
      case bestEffort = "a prefetch frees only what was used neither in this frame nor in the last"
      /// The group's limit is taken up by what is in use.
      case nothingToFree = "nothing that could be freed is left"
      /// A group is bound to a thread that has ended, so that nobody can free what it holds; see `strandedGroups`.
      case threadEnded = "what is needed can be freed by no thread; give a deadline to wait for one that takes over"
      /// It was invalidated, can hold only one product, and the old one is still in use.
      case oldProductInUse = "its old product is still in use, and it can hold only one; let go of that first"
      /// The system gave no more address space for buffers, or they would take more of it than four times the memory that
      /// the machine has.
      case addressSpace = "there is no address space for it"
    }
  }
}

extension ChunkError: CustomStringConvertible {
  /// A sentence a person can act on, with the numbers and names.
  public var description: String {
    switch self {
    case .tooLarge(let label, let needed, let limit, let group):
      let whose = group.map { "the limit of \(Labels.quoted(group: $0))" } ?? "the budget"
      return "\(quoted(label)) needs \(ByteCount(needed).exact), more than \(whose), \(ByteCount(limit).exact); "
        + "make it smaller, or raise the limit"
    case .noRoom(let numbers):
      return numbers.description
    case .recursive(let labels):
      return "chunks need each other in a ring: " + labels.map(quoted).joined(separator: " -> ")
        + "; break the ring in one generate() or size"
    case .generationFailed(let label, let underlying):
      return "generating \(quoted(label)) failed: \(underlying)"
    case .cancelled(let label, let atDeadline):
      return "\(atDeadline ? "the deadline passed" : "the task was cancelled") while it waited for \(quoted(label))"
    case .poolClosed(let label, let afterFork):
      return afterFork
        ? "\(quoted(label)) belongs to a pool of the parent process; a fork must make a pool of its own"
        : "\(quoted(label)) belongs to a pool that is closed; keep the ChunkPool as long as its chunks are used"
    case .invalidSize(let label, let size):
      return "\(quoted(label)) says that it takes \(size) bytes, which cannot be; correct its size"
    }
  }

  private func quoted(_ label: String) -> String { Labels.quoted(label) }
}

extension ChunkError.NoRoom: CustomStringConvertible {
  /// A sentence a person can act on, with the numbers and names.
  public var description: String {
    var text = "no room for \(Labels.quoted(label)): needed \(ByteCount(needed)), "
    text +=
      "free \(ByteCount(free)) of \(ByteCount(budget)); pinned \(ByteCount(pinned)), framed \(ByteCount(framed)), "
    text += "generating \(ByteCount(reserved)), being freed \(ByteCount(freeing))"
    if !holders.isEmpty { text += "; held by " + Labels.list(holders, quoted: true) }
    for group in strandedGroups {
      text += "; \(Labels.quoted(group: group)) is bound to a thread that has ended: bind it to another"
    }
    return text + " (\(reason.rawValue))"
  }
}
