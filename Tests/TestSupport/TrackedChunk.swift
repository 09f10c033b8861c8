public import MemChunks
import Synchronization

/// A chunk that owns real memory and watches how the pool treats it.
///
/// It stops the test at once when `generate()` and `free()` do not alternate or overlap; its memory comes from the C
/// allocator and is filled with a pattern, so that the address sanitizer or `isWhole` sees any misuse.
open class TrackedChunk: MemChunk, @unchecked Sendable {
  /// What a test may do at each step. All run where the step runs: without any lock of the pool.
  public struct Hooks: Sendable {
    /// Inside `size`.
    public var size: (@Sendable (TrackedChunk) -> Void)?
    /// Inside `generate()`, before the product is there.
    public var generate: (@Sendable (TrackedChunk) throws -> Void)?
    /// Inside `generate()`, when the product is there.
    public var generated: (@Sendable (TrackedChunk) -> Void)?
    /// Inside `free()`, before the product is gone.
    public var free: (@Sendable (TrackedChunk) -> Void)?
    /// Inside `free()`, when the product is gone.
    public var freed: (@Sendable (TrackedChunk) -> Void)?

    /// Does nothing anywhere.
    public init() {}
  }

  private enum Phase: Int { case empty, generating, there, freeing }

  private let phase = Atomic<Int>(Phase.empty.rawValue)
  private let declared: Atomic<Int>
  private let after = Atomic<Int>(Int.min)
  private let declaredPeak = Atomic<Int>(Int.min)
  private let generationCount = Atomic<Int>(0)
  private let freeCount = Atomic<Int>(0)
  private let hookBox = Locked(Hooks())
  private let log: ChunkLog?
  private let tally: ByteTally?
  // Written while generating and freeing only, which never overlap.
  private var memory: UnsafeMutableRawPointer?
  private var length = 0
  private var tallied = 0

  /// Makes an empty chunk of a size.
  public init(
    in pool: ChunkPool, group: ChunkGroup? = nil, label: String = "", size: Int, log: ChunkLog? = nil,
    tally: ByteTally? = nil
  ) {
    declared = Atomic(size)
    self.log = log
    self.tally = tally
    super.init(in: pool, group: group, label: label)
  }

  /// What the chunk says that it takes. Settable at any time.
  public final var declaredSize: Int {
    get { declared.load(ordering: .acquiring) }
    set { declared.store(newValue, ordering: .releasing) }
  }

  /// What it turns out to take once generated; nil, the default, for what it declared.
  public final var sizeAfter: Int? {
    get {
      let value = after.load(ordering: .acquiring)
      return value == .min ? nil : value
    }
    set { after.store(newValue ?? .min, ordering: .releasing) }
  }

  /// What it says that generating takes; nil, the default, for its size.
  public final var peak: Int? {
    get {
      let value = declaredPeak.load(ordering: .acquiring)
      return value == .min ? nil : value
    }
    set { declaredPeak.store(newValue ?? .min, ordering: .releasing) }
  }

  /// What the test does at each step.
  public final var hooks: Hooks {
    get { hookBox.current }
    set { hookBox.set(newValue) }
  }

  /// How often `generate()` has been called, failures included.
  public final var generations: Int { generationCount.load(ordering: .acquiring) }

  /// How often `free()` has returned.
  public final var frees: Int { freeCount.load(ordering: .acquiring) }

  /// Whether the product is there: from the end of `generate()` to the begin of `free()`.
  public final var hasProduct: Bool { phase.load(ordering: .acquiring) == Phase.there.rawValue }

  /// Whether the memory is there and nobody has written to it. Ask only while using the chunk.
  public final var isWhole: Bool {
    guard hasProduct, let memory else { return false }
    let bytes = UnsafeRawBufferPointer(start: memory, count: length)
    return bytes.first == 0xa5 && bytes.last == 0xa5
  }

  /// Bytes, before or after generating.
  open override var size: Int {
    hooks.size?(self)
    if let sizeAfter, hasProduct { return sizeAfter }
    return declaredSize
  }

  /// Bytes while generating.
  open override var workingPeak: Int { peak ?? declaredSize }

  /// Makes the memory.
  open override func generate() throws {
    move(from: .empty, to: .generating)
    generationCount.wrappingAdd(1, ordering: .acquiringAndReleasing)
    let hooks = hooks
    do { try hooks.generate?(self) } catch {
      move(from: .generating, to: .empty)
      throw error
    }
    tallied = max(0, sizeAfter ?? declaredSize)
    tally?.add(tallied)
    length = max(1, min(tallied, 4096))
    memory = .allocate(byteCount: length, alignment: 16)
    memory!.initializeMemory(as: UInt8.self, repeating: 0xa5, count: length)
    log?.append(.generated, label)
    move(from: .generating, to: .there)
    hooks.generated?(self)
  }

  /// Lets the memory go.
  open override func free() {
    precondition(isWhole, "\(label): the product is not whole when it is freed")
    move(from: .there, to: .freeing)
    let hooks = hooks
    hooks.free?(self)
    memory!.deallocate()
    memory = nil
    tally?.add(-tallied)
    log?.append(.freed, label)
    freeCount.wrappingAdd(1, ordering: .acquiringAndReleasing)
    move(from: .freeing, to: .empty)
    hooks.freed?(self)
  }

  /// Takes the memory out of the chunk, for `detachProduct()`; what it returns lets it go.
  public final func detachMemory() -> @Sendable () -> Void {
    nonisolated(unsafe) let detached = memory!
    memory = nil
    move(from: .there, to: .empty)
    return { detached.deallocate() }
  }

  private func move(from old: Phase, to new: Phase) {
    let (exchanged, found) = phase.compareExchange(
      expected: old.rawValue, desired: new.rawValue, ordering: .acquiringAndReleasing)
    precondition(exchanged, "\(label): \(new) while \(Phase(rawValue: found)!), not while \(old)")
  }
}
