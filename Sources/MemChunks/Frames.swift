import CMemChunks
import ChunkLedger

/// The frames that are open. A frame is a start stamp: whatever was used since the oldest open one began is
/// protected, whoever used it. Guarded by the pool's lock.
struct FrameBook {
  private var open: [(id: UInt64, start: UInt64)] = []
  private var nextID: UInt64 = 0
  /// When the last frame that ended began.
  private(set) var previousStart: UInt64?
  /// Open frames that are closures, and so end by themselves.
  private(set) var closures = 0

  var isOpen: Bool { !open.isEmpty }

  /// Chunks used after this stamp are protected.
  var protectedSince: UInt64 { open.first?.start ?? .max }

  /// What a prefetch must spare: uses in this frame and in the last.
  var sparedByPrefetch: UInt64 { min(protectedSince, previousStart ?? .max) }

  mutating func begin(at stamp: UInt64, isClosure: Bool) -> UInt64 {
    nextID += 1
    open.append((nextID, stamp))
    if isClosure { closures += 1 }
    return nextID
  }

  mutating func end(_ id: UInt64, isClosure: Bool) {
    // Frames may overlap and end in any order; the oldest open one comes first, because they begin in order.
    guard let index = open.firstIndex(where: { $0.id == id }) else { return }
    previousStart = open[index].start
    open.remove(at: index)
    if isClosure { closures -= 1 }
  }
}

extension PoolCore {
  func beginFrame(isClosure: Bool) -> UInt64 {
    locked { _ in self.frames.begin(at: RecencyClock.advance(self.clock), isClosure: isClosure) }
  }

  func endFrame(_ id: UInt64, isClosure: Bool) {
    if isForked { return }
    locked { after in
      self.frames.end(id, isClosure: isClosure)
      self.ages.note(stamp: RecencyClock.advance(self.clock), at: self.time())
      self.ledger.noteChange()
      if self.ledger.departing > 0 {
        for slot in self.ledger.departingSlots() { self.departIfUnused(slot, &after) }
      }
      self.dropSurplus(for: 0, &after)
      self.serve(&after)
    }
  }
}

extension ChunkPool {
  /// Runs `body` as one frame: what is used inside stays ready until the frame ends.
  ///
  ///     try pool.frame {
  ///       for icon in visibleIcons { try icon.ensureReady() }
  ///       draw(visibleIcons)
  ///     }
  ///
  /// Chunks of one frame never evict each other: a frame that needs more than the budget gets
  /// `ChunkError.noRoom`, with what the frame holds, instead of generating the same chunks again and again. Frames may be
  /// nested and may overlap between threads; protected is what was used since the oldest open one began.
  /// `freeAll`, `trim` and pressure take effect on it when the frame ends.
  public func frame<R>(_ body: () throws -> R) rethrows -> R {
    let id = core.beginFrame(isClosure: true)
    mc_thread_current()!.pointee.scopes &+= 1
    defer {
      mc_thread_current()!.pointee.scopes &-= 1
      core.endFrame(id, isClosure: true)
    }
    return try body()
  }

  /// Begins a frame that ends when the token goes: for drawing loops that are not one closure.
  public func beginFrame() -> Frame { Frame(core) }
}

/// An open frame; it ends when the token is dropped or `end()` is called.
public struct Frame: ~Copyable, Sendable {
  private let core: PoolCore
  private let id: UInt64

  init(_ core: PoolCore) {
    self.core = core
    id = core.beginFrame(isClosure: false)
  }

  deinit { core.endFrame(id, isClosure: false) }

  /// Ends the frame now.
  public consuming func end() {}
}
