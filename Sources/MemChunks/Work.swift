import CMemChunks
import ChunkLedger
import Synchronization

/// Room that was promised to a request, and what is to be made in it.
final class Work: @unchecked Sendable {
  let request: Request
  let grant: Grant
  // Guarded by the pool's lock, as the books are, and unchecked for the same reason.
  @exclusivity(unchecked) var victims: [Victim]
  @exclusivity(unchecked) var generations = Few<Generation>()
  /// What its request gets, if it has failed.
  var failure: Request.Step?
  /// The first of its generations that its thread has not come to yet.
  @exclusivity(unchecked) var next = 0
  /// Wakes its thread, which has nothing left to make and waits for what others make of it.
  var parker: Parker?
  // Guarded by the lock on waits.
  /// The thread that does it; nil until a worker takes it.
  var thread: Thread?
  /// In how many activities of its thread it is done.
  var depth: UInt32

  init(_ request: Request, _ grant: Grant, victims: [Victim]) {
    self.request = request
    self.grant = grant
    self.victims = victims
    thread = request.thread
    depth = request.context.depth
  }
}

/// One product being made, from the moment room is promised until it is there or has failed.
final class Generation: @unchecked Sendable {
  let chunk: MemChunk
  let lane: Int
  /// What the chunk said before room was made.
  let quote: ChunkQuote
  /// The work it belongs to, which outlives it: a work is kept until all of its generations are over.
  unowned(unsafe) let work: Work
  /// Which of its request's chunks it makes.
  let index: Int

  // Guarded by the pool's lock.
  /// Who waits for it.
  @exclusivity(unchecked) var joiners = WaitingLine()
  @exclusivity(unchecked) var progress = Progress.promised
  /// Made by another thread than the one whose work it belongs to.
  var isLent = false
  @exclusivity(unchecked) var outdated = Outdated.no
  /// Discarded while it ran: the product goes as soon as it is unused.
  var departs = false
  /// What those who need it get, if it has failed.
  var failure: Request.Step?

  /// The thread that makes it; nil until it is begun. Written once.
  let maker = Atomic<Thread?>(nil)
  /// In how many activities of its maker it is made. Written before the maker is, and read after it.
  var depth: UInt32 = 0

  enum Progress {
    /// Victims are being freed.
    case promised
    /// There is room: whoever needs it first begins.
    case placed
    case begun
    case over
  }

  /// Whether the chunk was invalidated meanwhile.
  enum Outdated {
    case no
    /// By code inside the generation itself, or inside another of the same request: the product is used once.
    case byItself
    /// By others: the product is thrown away.
    case byOthers
  }

  init(_ chunk: MemChunk, lane: Int, _ quote: ChunkQuote, work: Work, index: Int) {
    self.chunk = chunk
    self.lane = lane
    self.quote = quote
    self.work = work
    self.index = index
  }
}
