import ChunkLedger
import Synchronization

/// Sums since the pool was made. Guarded by the pool's lock.
struct Tallies {
  var generations = 0
  var frees = 0
  var failures = 0
  var refusals = 0
  var bytesGenerated = 0
  var timeGenerating: UInt64 = 0
  var thrashSignals = 0
  /// Uses of all chunks, as far as they have been added up.
  var uses: UInt64 = 0
  /// Uses that found the product missing.
  var misses: UInt64 = 0
  /// Bytes of larger products outside the arena that were freed, and of those the ones after which the C library was asked
  /// to give memory back.
  var heapBytesFreed = 0
  var heapBytesTrimmed = 0
}

/// A pool in numbers, at one moment. Bytes, unless said otherwise.
public struct PoolStatistics: Sendable, Equatable {
  /// The hard limit.
  public var budget: Int
  /// How much may stay ready while nobody uses it.
  public var keepLimit: Int
  /// Everything counted: ready, reserved, being freed, and free pages that are still resident. Never above the budget,
  /// but for `overdraft`.
  public var used: Int
  /// Bytes of chunks that are ready.
  public var ready: Int
  /// Bytes promised to generations.
  public var reserved: Int
  /// Bytes whose `free()` has not finished, or that come late.
  public var freeing: Int
  /// Pages of the arena that are free but resident.
  public var freePages: Int
  /// The most that was counted at once.
  public var peak: Int
  /// How much of what is counted lies above a budget that was lowered under it.
  public var overdraft: Int
  /// Bytes of ready chunks that somebody is using.
  public var pinned: Int
  /// How many chunks are not empty.
  public var chunks: Int
  /// How often a product was made, those that could not be kept included: always `frees` and what is ready now.
  public var generations: Int
  /// How often a product was freed.
  public var frees: Int
  /// How often `generate()` failed, or its product could not be kept.
  public var failures: Int
  /// How often a request was refused.
  public var refusals: Int
  /// Uses that found the product ready.
  public var hits: Int
  /// Uses that did not.
  public var misses: Int
  /// Bytes generated, all in all.
  public var bytesGenerated: Int
  /// What generating took, all in all, in nanoseconds.
  public var nanosecondsGenerating: UInt64
  /// How often the pool began to thrash.
  public var thrashSignals: Int
  /// The numbers, while it thrashes.
  public var thrash: ThrashReport?
}

extension PoolCore {
  /// Adds up the uses of a request's chunks, and its misses.
  ///
  /// A use adds itself to the chunk's word before it knows whether it is a hit; so hits are all uses less the misses.
  func countUses(of request: Request) {
    guard request.purpose != .prefetch else { return }
    for index in request.chunks.indices {
      let chunk = request.chunks[index]
      addUses(of: chunk)
      if chunk.isReady { noteHit(of: chunk, for: request) } else { tallies.misses &+= 1 }
    }
  }

  func addUses(of chunk: MemChunk) {
    let uses = chunk.totalUses
    tallies.uses &+= uses &- chunk.books.countedUses
    chunk.books.countedUses = uses
  }

  func statistics() -> PoolStatistics {
    locked { _ in
      var pinned = 0
      for seat in self.table.seats {
        seat.chunk?._withUnsafeGuaranteedRef { chunk in
          self.addUses(of: chunk)
          let slot = Slot(Int(chunk.books[seat.lane]))
          if slot.index >= 0, ChunkWord.users(chunk.word.load(ordering: .relaxed), seat.lane) > 0 {
            let state = self.ledger.state(of: slot)
            if state == .ready || state == .retired { pinned += self.ledger.size(of: slot) }
          }
        }
      }
      let ledger = self.numbers
      return PoolStatistics(
        budget: ledger.budget, keepLimit: ledger.keepLimit, used: ledger.counted, ready: ledger.ready,
        reserved: ledger.reserved, freeing: ledger.freeing, freePages: ledger.freePages, peak: ledger.peak,
        overdraft: ledger.overdraft, pinned: pinned, chunks: ledger.slots, generations: self.tallies.generations,
        frees: self.tallies.frees, failures: self.tallies.failures, refusals: self.tallies.refusals,
        hits: Int(self.tallies.uses &- min(self.tallies.uses, self.tallies.misses)), misses: Int(self.tallies.misses),
        bytesGenerated: self.tallies.bytesGenerated, nanosecondsGenerating: self.tallies.timeGenerating,
        thrashSignals: self.tallies.thrashSignals, thrash: self.thrash.current)
    }
  }

  /// The ledger's totals, copied out: the ledger itself cannot be.
  private var numbers:
    (
      budget: Int, keepLimit: Int, counted: Int, ready: Int, reserved: Int, freeing: Int, freePages: Int, peak: Int,
      overdraft: Int, slots: Int
    )
  {
    (
      ledger.budget, ledger.keepLimit, ledger.counted, ledger.ready, ledger.reserved + ledger.pledged, ledger.freeing,
      ledger.arena.warmBytes, ledger.peak, ledger.overdraft, ledger.slotCount
    )
  }
}

extension ChunkPool {
  /// The pool in numbers. O(1) but for `hits` and `pinned`, which are summed over the chunks that are not empty.
  public var statistics: PoolStatistics { core.statistics() }

  /// Everything that is counted now, in bytes. O(1).
  public var used: ByteCount { .bytes(core.read { core.ledger.counted }) }

  /// Lets `statistics.peak` begin anew at what is counted now.
  public func resetPeak() { core.locked { _ in self.core.ledger.resetPeak() } }
}
