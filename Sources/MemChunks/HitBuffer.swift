import ChunkLedger
import Synchronization

/// Hits that somebody wants to hear of, on their way to the pool's lock: bounded, and without a lock on the way in.
///
/// A ring of chunks' numbers. Whoever hits takes a place by compare-exchange and writes its number there; whoever holds the
/// lock takes the numbers out. Places that are taken but not yet written end the taking out.
///
/// Unchecked, because a pointer is never checked: what it points to are atomics, and it never changes.
final class HitBuffer: @unchecked Sendable {
  static let capacity: UInt64 = 4_096
  /// The next place to be taken, and the next to be emptied; both only rise.
  private let head = Atomic<UInt64>(0)
  private let tail = Atomic<UInt64>(0)
  /// Hits for which there was no place, and nobody to make some.
  let dropped = Atomic<UInt64>(0)
  private let places: UnsafeMutablePointer<Atomic<UInt32>>

  init() {
    places = .allocate(capacity: Int(Self.capacity))
    for index in 0..<Int(Self.capacity) { (places + index).initialize(to: Atomic(0)) }
  }

  deinit {
    places.deinitialize(count: Int(Self.capacity))
    places.deallocate()
  }

  /// False when there is no place.
  func append(_ number: UInt32) -> Bool {
    var place = head.load(ordering: .relaxed)
    while true {
      guard place &- tail.load(ordering: .acquiring) < Self.capacity else { return false }
      let (exchanged, original) = head.weakCompareExchange(
        expected: place, desired: place &+ 1, ordering: .relaxed)
      if exchanged { break }
      place = original
    }
    places[Int(place % Self.capacity)].store(number, ordering: .releasing)
    return true
  }

  /// Takes out what is there, oldest first. Under the pool's lock.
  func drain(_ body: (UInt32) -> Void) {
    var place = tail.load(ordering: .relaxed)
    while case let number = places[Int(place % Self.capacity)].load(ordering: .acquiring), number != 0 {
      places[Int(place % Self.capacity)].store(0, ordering: .relaxed)
      place &+= 1
      tail.store(place, ordering: .releasing)
      body(number)
    }
  }
}

extension MemChunk {
  /// A hit on a chunk whose hits are watched.
  final func reportHit() {
    // Made before the first chunk was watched, and kept. The number was given before that too.
    let hits = core.hits!
    if !hits.append(books.number) { core.makePlaceForHit(of: self, in: hits) }
  }
}

extension PoolCore {
  /// Nobody has taken out hits for long: does so, unless somebody else has the lock and may be doing it.
  fileprivate func makePlaceForHit(of chunk: MemChunk, in hits: HitBuffer) {
    guard lock.tryLock() else {
      hits.dropped.wrappingAdd(1, ordering: .relaxed)
      return
    }
    drainHits()
    noteHit(of: chunk)
    let sink = requests.sinkToFlush()
    lock.unlock()
    sink?.flush()
  }
}
