import CMemChunks

/// Which chunks are being generated, and by which threads: what a thread asks for meanwhile it asks for inside a generation,
/// and would not ask for where that was a hit. Kept only while a recorder listens. Guarded by the pool's lock.
struct NestedRequests {
  /// The numbers of what each thread is generating, innermost last. Threads are known by their records: they live as long,
  /// and one that has no number yet may get it meanwhile.
  private var running: [Thread: [UInt32]] = [:]
  /// Inside which generation the recorder takes what it is told of next to be asked for; 0 for none.
  var told: UInt32 = 0

  /// The number of what a thread is generating, the innermost; 0 for nothing.
  func innermost(ofThread number: UInt?) -> UInt32 {
    guard !running.isEmpty, let number else { return 0 }
    return running.first { $0.key.number == number }?.value.last ?? 0
  }

  mutating func begin(_ number: UInt32, on thread: Thread) { running[thread, default: []].append(number) }

  mutating func end(_ number: UInt32) {
    // It may have begun before anybody listened.
    guard let index = running.firstIndex(where: { $0.value.last == number }) else { return }
    let thread = running[index].key
    running[thread]!.removeLast()
    if running[thread]!.isEmpty { running[thread] = nil }
  }
}

extension PoolCore {
  /// A thread begins to generate a chunk; another may have begun it on its behalf. Under the lock.
  func noteBegin(of chunk: MemChunk, on thread: Thread) {
    guard requests.hasSink else { return }
    // What the thread asked for before, it did not ask for inside.
    drainHits()
    if chunk.number == 0 { chunk.number = requests.nextNumber() }
    if chunk.number != 0 { requests.nested.begin(chunk.number, on: thread) }
  }

  /// It is over, however it ended. Under the lock.
  func noteEnd(of chunk: MemChunk) {
    guard requests.isWatching else { return }
    // What was asked for inside comes before it.
    drainHits()
    requests.nested.end(chunk.number)
  }

  /// A generation ended, and nobody sees a product of it.
  func noteFailure(of chunk: MemChunk) {
    if chunk.number != 0 { tell(.failed(number: chunk.number)) }
  }

  /// Says inside which generation what is told of next was asked for.
  func tell(inside number: UInt32) {
    guard requests.hasSink, requests.nested.told != number else { return }
    requests.nested.told = number
    tell(.inside(number: number))
  }

  /// The number of the chunk of this pool inside whose generation a request is made; 0 for none.
  func number(around request: Request) -> UInt32 {
    request.context.generating.last { $0.core === self }?.number ?? 0
  }
}
