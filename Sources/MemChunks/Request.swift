import CMemChunks
import ChunkLedger
import Synchronization

typealias Thread = UnsafeMutablePointer<mc_thread>

extension Thread {
  /// Which thread it is; `BoundThread.any` for one that no group was ever bound to.
  var number: UInt { UInt(mc_thread_number(self)) }
}

/// One wish for one or several chunks, from the miss to the answer.
///
/// Whoever asks drives it: take the lock, `step`, let go of the lock, do what the step says. Only
/// when the step is `.wait` does it lie with the pool, and whoever changes something steps it there.
/// A thread drives its own request; a task's is driven by the pool's workers.
@usableFromInline
final class Request: @unchecked Sendable {
  /// What the answer is used for.
  @usableFromInline
  enum Purpose: Sendable {
    /// The product is there, nothing holds it: `ensureReady()`.
    case touch
    /// Held until a closure ends.
    case scope
    /// Held by a token.
    case token
    /// Nobody uses it yet.
    case prefetch

    var holds: Bool { self == .scope || self == .token }
  }

  enum Step {
    case ready
    /// Aside, so that a step is small: errors are large, and few.
    indirect case failed(ChunkError)
    /// Ask the chunks for their sizes again: they changed.
    case quote
    /// Room is promised: free the victims, then generate.
    case work(Work)
    /// Begun on behalf of this thread, in its own work or in another's: generate it now.
    case workAhead(Generation)
    /// Free what was queued for this thread.
    case drain
    case wait
  }

  /// Where the request lies while it waits.
  enum Place {
    case nowhere
    case queue
    case generation(Generation)
    /// Among the jobs for the pool's threads, none of which has begun with it.
    case job
  }

  /// What the asking thread already holds, in any pool: why it may have to be refused instead of waiting.
  struct Context {
    /// It runs `free()`, an observer or a last release for a pool, which cannot go on before that returns.
    var isInsideFree = false
    /// Scopes and frames are open.
    var holdsScopes = false
    /// The chunks it is generating, outermost first.
    var generating: [MemChunk] = []
    /// The same, with those that it is asking for their size: how one led to the other.
    var chain: [MemChunk] = []
    /// In how many activities of the thread it is asked: in more than a generation that it is asked inside.
    var depth: UInt32 = 0

    init() {}

    /// Of the calling thread.
    init(_ thread: Thread) {
      holdsScopes = thread.pointee.scopes > 0
      guard thread.pointee.activity != nil else { return }
      isInsideFree = Activity.isInside(.freeing, thread) || Activity.isInside(.telling, thread)
      generating = Activity.chunks([.generating], thread)
      chain = Activity.chunks([.generating, .measuring], thread)
      depth = Activity.depth(of: thread)
    }
  }

  let chunks: Few<MemChunk>
  let purpose: Purpose
  /// The thread that asks; nil for a task.
  let thread: Thread?
  /// What that thread is in the middle of. Written down here, because others ask while the thread sleeps or frees.
  let context: Context
  /// When to stop waiting, on the pool's clock in nanoseconds.
  let deadline: UInt64?
  /// Chunks used after this stamp are not freed for it. Prefetches only.
  var sparesUsesSince: UInt64 = .max
  @exclusivity(unchecked) var quotes = Few<ChunkQuote>()
  private(set) var timesQuoted = 0
  /// Why it cannot have the quotes: a chunk's `size` led back to itself.
  var ring: Step?

  // Guarded by the pool's lock, as the books are, and unchecked for the same reason.
  @exclusivity(unchecked) var lanes: Few<Int>
  @exclusivity(unchecked) var place = Place.nowhere
  /// Where it stands in the line in which it waits, and its number in the queue.
  var position = 0
  var turn: UInt64 = 0
  var delivered: Step?
  /// Its task was cancelled: nobody wants the answer.
  var isAbandoned = false
  /// Its deadline passed while it did not wait, so nothing had to end then.
  var isOutOfTime = false
  /// The task has its answer, or is about to get it.
  var isDecided = false
  /// Which of the chunks it holds so far, in its lanes.
  @exclusivity(unchecked) var held = Few<Int>()

  /// When to look again, though nothing happened: see `hopelessness`.
  var patience: UInt64?
  var isOutOfPatience = false

  /// Wakes the thread; made when it is about to sleep.
  var parker: Parker?
  /// Resumes the task, once.
  var continuation: CheckedContinuation<Void, any Error>?

  init(_ chunks: Few<MemChunk>, _ purpose: Purpose, thread: Thread?, deadline: UInt64? = nil) {
    self.chunks = chunks
    self.purpose = purpose
    self.thread = thread
    self.deadline = deadline
    self.lanes = Few(repeating: 0, count: chunks.count)
    context = thread.map { Context($0) } ?? Context()
  }

  var label: String {
    if chunks.count == 1 { return chunks[0].label }
    return Labels.list(chunks.prefix(4).map(\.label), quoted: false) + (chunks.count > 4 ? ", ..." : "")
  }

  /// Bytes it would need if none of its chunks were ready.
  var bytes: Int { quotes.reduce(0) { min($0 + min(max(0, $1.reservation), ByteCount.most), ByteCount.most) } }

  /// Whether the chunks' sizes go out of date as fast as they are asked for. A few times that is nothing: a victim that
  /// is made anew says another size.
  var isQuotedInVain: Bool { timesQuoted > 4 }

  /// Whether it must not wait any more.
  func isPastDeadline(_ now: @autoclosure () -> UInt64) -> Bool { isOutOfTime || deadline.map { $0 < now() } ?? false }

  /// Asks the chunks for their sizes. Runs their code: never under the lock.
  func quoteSizes(_ core: PoolCore) {
    let versions = core.lock.withLock { chunks.map { $0.books.version } }
    quotes = .none
    timesQuoted += 1
    let thread = mc_thread_current()!
    for index in chunks.indices {
      let chunk = chunks[index]
      if let labels = Activity.ring(measuring: chunk, thread) { return ring = .failed(.recursive(labels)) }
      var quote = Activity.run(.measuring, core, chunk) { _ in chunk.quote() }
      quote.version = versions[index]
      quotes.append(quote)
    }
  }

  /// The error, if a chunk that is to be generated says that it takes what no chunk can.
  func invalidSize(among missing: Few<Int>) -> ChunkError? {
    for index in missing {
      let (size, peak) = (quotes[index].size, quotes[index].peak)
      if !Self.isPossible(size) { return .invalidSize(label: chunks[index].label, size: size) }
      if !Self.isPossible(peak) { return .invalidSize(label: chunks[index].label, size: peak) }
    }
    return nil
  }

  private static func isPossible(_ size: Int) -> Bool { size >= 0 && size <= ByteCount.most }
}
