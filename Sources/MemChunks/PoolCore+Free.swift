import CMemChunks
import ChunkLedger
import Synchronization

// From the claim to the moment the bytes leave the count.
extension PoolCore {
  /// How a free ended.
  enum FreeOutcome {
    case done
    /// The memory, or a part of it, comes back later.
    case late(LateFree)
    /// Only another thread may free it; it was told.
    case queued(wake: (@Sendable () -> Void)?)
  }

  /// Runs a victim's `free()`, on whichever thread may do it. Without the lock.
  func runFree(_ victim: Victim) -> FreeOutcome {
    if let outcome = queueIfBound(victim) { return outcome }
    return runFreeHere(victim.chunk, victim.lane, slot: victim.slot)
  }

  private func runFreeHere(_ chunk: MemChunk, _ lane: Int, slot: Slot) -> FreeOutcome {
    Activity.run(.freeing, self, chunk) { record in
      record.pointee.slot = Int32(slot.index)
      chunk.freeProduct(in: lane)
      guard let late = record.pointee.late else { return .done }
      return .late(Unmanaged<LateFree>.fromOpaque(late).takeRetainedValue())
    }
  }

  /// The bytes leave the count, all but those that come late. Under the lock.
  func finishFree(_ victim: Victim, _ outcome: FreeOutcome, _ after: inout Aftermath) {
    freesRunning -= 1
    switch outcome {
    case .queued(let wake):
      if let wake { after.wakes.append(wake) }
    case .done: vacate(victim.chunk, victim.lane, late: nil, victim.reason, &after)
    case .late(let part): vacate(victim.chunk, victim.lane, late: part, victim.reason, &after)
    }
    // The reference may be the last, and its release runs the chunk's deinit.
    after.releases.append(victim.chunk)
    if !lingering.isEmpty, !victim.chunk.books.hasSlot { lingering.removeAll { $0 === victim.chunk } }
  }

  private func vacate(
    _ chunk: MemChunk, _ lane: Int, late part: LateFree?, _ reason: FreeReason, _ after: inout Aftermath
  ) {
    let slot = Slot(Int(chunk.books[lane]))
    let size = ledger.size(of: slot)
    var lateBytes = 0
    if let part {
      // It must not go under the lock: its deinit takes it.
      after.releases.append(part)
      if !part.isFinished {
        part.isCounted = true
        part.bytes = min(part.bytes, size)
        lateBytes = part.bytes
      }
    }
    chunk.books[lane] = -1
    // An empty chunk may say another size than a ready one: whoever asked meanwhile asks again.
    chunk.books.version &+= 1
    queue.mark(chunk)
    table.clear(slot)
    noteFreed(chunk, slot, reason)
    noteGone(chunk, from: slot)
    // Nobody adds them up any more once the chunk has no seat.
    addUses(of: chunk)
    tallies.frees += 1
    thrash.freedBytes &+= UInt64(size)
    if reason == .room { chunk.books.freedAt = thrash.freedBytes }
    if ledger.pages(of: slot).count == 0, size >= 1 << 16 { tallies.heapBytesFreed &+= size }
    note(freed: chunk, size, reason, &after)
    if isClosed || reason.makesTheProcessSmaller { pagesToSpare += ledger.pages(of: slot).count }
    ledger.finishFree(slot, late: lateBytes)
  }

  /// Bytes that `free()` handed back late are back.
  func finishLate(_ part: LateFree) {
    if isForked { return }
    locked { after in
      guard !part.isFinished else { return }
      part.isFinished = true
      guard part.isCounted else { return }
      self.ledger.finishLate(part.bytes, group: part.group.index)
      self.serve(&after)
    }
  }

  /// The last reference to a chunk with a product is going: called by its deinit, so no victim can be made of it
  /// here or elsewhere without our noticing.
  func lastReferenceIsGoing(_ chunk: MemChunk) {
    // What the child of a fork would free here may be shared with the parent.
    if isForked { return }
    for lane in 0..<chunk.laneCount {
      let slot = lock.withLock { () -> Slot? in
        guard chunk.books[lane] >= 0 else { return nil }
        chunk.word.bitwiseAnd(~ChunkWord.ready, ordering: .acquiringAndReleasing)
        let slot = Slot(Int(chunk.books[lane]))
        retired.removeAll { $0 == slot }
        ledger.beginFreeing(slot)
        freesRunning += 1
        return slot
      }
      guard let slot else { continue }
      let late = detachIfBound(chunk, slot) ?? runFreeHere(chunk, lane, slot: slot)
      locked { after in
        self.freesRunning -= 1
        let part: LateFree? = if case .late(let part) = late { part } else { nil }
        // The seat is vacated while the chunk still exists; nothing keeps it from here on.
        self.vacate(chunk, lane, late: part, .dropped, &after)
        if let wake = part?.wake { after.wakes.append(wake) }
        self.serve(&after)
      }
    }
  }
}

extension FreeReason {
  /// Whether the memory was wanted back, and not only the room for another product. Pages of the arena that are given to
  /// the system must be cleared by it before the next buffer has them, which costs more than freeing.
  fileprivate var makesTheProcessSmaller: Bool {
    switch self {
    case .limit, .all, .trimmed, .unused, .discarded, .closed: true
    case .room, .invalidated, .dropped: false
    }
  }
}

/// Memory that `free()` could not hand back at once, because somebody still reads it: a graphics processor, a file
/// being written.
///
/// The chunk is empty and may be generated again; the bytes stay counted until `finish()`.
public final class LateFree: @unchecked Sendable {
  let core: PoolCore
  let group: ChunkGroup
  var bytes: Int
  // Guarded by the pool's lock.
  var isCounted = false
  var isFinished = false
  /// Tells the thread that is to free it.
  var wake: (@Sendable () -> Void)?

  init(_ core: PoolCore, _ group: ChunkGroup, bytes: Int) {
    self.core = core
    self.group = group
    self.bytes = bytes
  }

  deinit { core.finishLate(self) }

  /// The memory is back: its bytes leave the count. May be called from any thread, also before `free()` has
  /// returned; a second call does nothing. Dropping the last reference does the same.
  public func finish() { core.finishLate(self) }
}

extension MemChunk {
  /// Called inside `free()`: so many of the product's bytes are handed back later.
  ///
  ///     override func free() {
  ///       let (texture, late) = (self.texture, deferFree())
  ///       queue.afterLastRead { release(texture); late.finish() }
  ///     }
  ///
  /// What runs later must not keep the chunk: `free()` may be running because its last reference has gone.
  ///
  /// - Parameter bytes: how many come late; nil for all of them.
  /// - Precondition: called on the thread that runs this chunk's `free()`, at most once in it.
  public final func deferFree(_ bytes: Int? = nil) -> LateFree {
    let thread = mc_thread_current()!
    guard let record = thread.pointee.activity, record.pointee.kind == Activity.freeing.rawValue,
      record.pointee.chunk == Unmanaged.passUnretained(self).toOpaque(), record.pointee.late == nil
    else { preconditionFailure("deferFree() belongs into free(), once") }
    let late = LateFree(core, group, bytes: max(0, bytes ?? .max))
    record.pointee.late = Unmanaged.passRetained(late).toOpaque()
    return late
  }
}
