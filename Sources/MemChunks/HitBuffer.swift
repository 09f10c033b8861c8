import CMemChunks
import ChunkLedger
import Synchronization

/// Hits that somebody wants to hear of, on their way to the pool's lock: a bounded ring for each thread, so that a hit puts its
/// chunk's number there with two plain stores. Whoever holds the pool's lock takes the numbers out.
///
/// One ring for all threads was slower: taking a place in it is a compare-exchange, on a line that all of them write.
/// Hits of different threads between two slow steps of the pool count as simultaneous, here as by their stamps; they come out
/// thread by thread.
final class HitBuffer: Sendable {
  typealias Ring = UnsafeMutablePointer<mc_hits>

  /// No other buffer of this process has it, also when this one is gone: a thread may still remember the ring it had here.
  let owner: UInt64
  /// Hits for which there was no place, and nobody to make some.
  let dropped = Atomic<UInt64>(0)
  private let rings = RingList()
  private static let lastOwner = Atomic<UInt64>(0)

  init() { owner = Self.lastOwner.wrappingAdd(1, ordering: .relaxed).newValue }

  /// The calling thread's ring, which no other thread has until this one ends.
  func ring(ofThread number: UInt) -> Ring { rings.ring(ofThread: number) }

  /// The thread's ring is for others to fill.
  func threadEnded(_ number: UInt) { rings.leave(number) }

  /// Takes out what is there, oldest first within each thread, and says whose it is; nil where that thread has ended. Under
  /// the pool's lock.
  func drain(_ body: (_ hits: UnsafeBufferPointer<UInt32>, _ thread: UInt?) -> Void) {
    let (rings, threads) = rings.all
    for (ring, thread) in zip(rings, threads) {
      var first: UnsafePointer<UInt32>?
      while case let count = mc_hits_peek(ring, &first), count > 0 {
        body(UnsafeBufferPointer(start: first, count: Int(count)), thread)
        mc_hits_take(ring, count)
      }
    }
  }
}

/// What a ring holds of a hit beside the chunk's number.
package enum HitNote {
  package static let hit: UInt32 = 0
  /// A hit whose product a token holds from then on.
  package static let pinned: UInt32 = 1 << 30
  /// A token let go; no hit.
  package static let unpinned: UInt32 = 2 << 30
  package static let number: UInt32 = (1 << 30) - 1
}

/// The rings of one buffer, and whose they are. They stay where they are as long as it lives.
///
/// Unchecked: everything is behind the lock, which is held for a few steps and inside which nothing is called.
private final class RingList: @unchecked Sendable {
  private let lock = Lock()
  private var rings: [HitBuffer.Ring] = []
  /// The number of the thread that fills each; nil where that has ended.
  private var threads: [UInt?] = []

  deinit {
    for ring in rings { mc_hits_destroy(ring) }
  }

  var all: (rings: [HitBuffer.Ring], threads: [UInt?]) { lock.withLock { (rings, threads) } }

  func ring(ofThread number: UInt) -> HitBuffer.Ring {
    lock.withLock {
      if let index = threads.firstIndex(of: number) { return rings[index] }
      if let index = threads.firstIndex(of: nil) {
        threads[index] = number
        return rings[index]
      }
      let ring = mc_hits_make()!
      rings.append(ring)
      threads.append(number)
      return ring
    }
  }

  func leave(_ number: UInt) {
    lock.withLock {
      if let index = threads.firstIndex(of: number) { threads[index] = nil }
    }
  }
}

extension MemChunk {
  /// A hit on a chunk whose hits are watched, or the end of a token of one.
  @inline(__always)
  final func report(_ note: UInt32) {
    let thread = mc_thread_current()!
    // Beside the clock, which the hit has read. The number was given before the first hit was watched.
    let owner = (clock + 1).pointee.load(ordering: .relaxed)
    let hit = number | note
    if thread.pointee.hits_owner == owner, mc_hits_put(thread.pointee.hits, hit) { return }
    core.reportSlowly(hit)
  }
}

extension PoolCore {
  /// The thread's first hit here since one in another pool, or its ring is full: takes out what is there, unless somebody
  /// else has the lock and may be doing it.
  fileprivate func reportSlowly(_ hit: UInt32) {
    // The rings are the parent's.
    if isForked { return }
    let thread = mc_thread_current()!
    // Made before the first chunk was watched, and kept.
    let hits = hits!
    if thread.pointee.hits_owner != hits.owner {
      let farewell = Farewell.current
      farewell.add(self)
      thread.pointee.hits = hits.ring(ofThread: farewell.number)
      thread.pointee.hits_owner = hits.owner
    }
    if mc_hits_put(thread.pointee.hits, hit) { return }
    guard lock.tryLock() else {
      hits.dropped.wrappingAdd(1, ordering: .relaxed)
      return
    }
    drainHits()
    let sink = requests.sinkToFlush()
    lock.unlock()
    sink?.flush()
    if !mc_hits_put(thread.pointee.hits, hit) { hits.dropped.wrappingAdd(1, ordering: .relaxed) }
  }
}
