/// The memory that a thread works in while it reads rows, whichever reader it uses.
///
/// A window of compressed bytes, a row as it is inflated, and a row as it is given out: what a reader needs only while
/// it works. Hundreds of readers that take turns so keep little more than their inflater's state each. Belongs to one
/// thread at a time.
public final class PNGRowScratch {
  /// The bytes of it.
  public var byteCount: Int { memory.count }

  let memory: UnsafeMutableRawBufferPointer
  private let isOwned: Bool
  private var takings = 0

  /// Takes memory of as many bytes as the readers say that are to work in it, the largest
  /// `PNGRows.scratchByteCount(for:format:)`.
  public init(byteCount: Int) {
    memory = .allocate(byteCount: byteCount, alignment: 16)
    isOwned = true
  }

  /// Works in the caller's memory, aligned to 16, which is for nobody else's use until the scratch is gone.
  public init(memory: UnsafeMutableRawBufferPointer) {
    precondition(Int(bitPattern: memory.baseAddress) % 16 == 0, "a scratch's memory must be aligned to 16")
    self.memory = memory
    isOwned = false
  }

  deinit {
    if isOwned { memory.deallocate() }
  }

  /// Says that a reader works here from now on, and nobody who did before; `isHeld` tells by the result.
  func take() -> Int {
    takings += 1
    return takings
  }

  /// Whether nobody has taken the scratch since.
  func isHeld(_ taking: Int) -> Bool { taking == takings }
}
