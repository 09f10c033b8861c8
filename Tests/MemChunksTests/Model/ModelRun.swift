import MemChunks
import TestSupport

/// A pool and its model, given the same operations.
final class ModelRun {
  typealias Model = PoolModel

  /// A chunk of the pool beside that of the model.
  final class Pair {
    var real: MemChunk
    let model: Model.Chunk
    let script: Script

    init(_ real: MemChunk, _ model: Model.Chunk, _ script: Script) {
      (self.real, self.model, self.script) = (real, model, script)
    }
  }

  /// What the real chunk's code does when it is called; shared with its closures.
  final class Script: Sendable {
    let next = Locked(Model.Next.works)
    let late = Locked<Int?>(nil)
    /// What the next product contains, and what the current one should.
    let content = Locked<UInt8>(0)
    let chunk = Locked<Weak?>(nil)

    struct Weak: @unchecked Sendable { weak var chunk: MemChunk? }

    /// Inside `generate()`.
    func generate() throws {
      let next = next.withLock { next in
        defer { next = .works }
        return next
      }
      switch next {
      case .works: break
      case .fails: throw Broken()
      case .isInvalidated:
        // By another thread: a product that invalidates itself is not thrown away.
        let chunk = chunk.current?.chunk
        TestThread { chunk?.invalidate() }.join()
      case .isDiscarded: chunk.current?.chunk?.discard()
      }
    }
  }

  /// A token of any kind, and what to do with the model when it goes.
  final class Token {
    let held: [(Model.Chunk, Model.Product)]
    let letGo: () -> Void

    init(_ held: [(Model.Chunk, Model.Product)], _ letGo: @escaping () -> Void) {
      (self.held, self.letGo) = (held, letGo)
    }
  }

  let clock = ManualClock(startingAt: 100_000_000_000)
  let pool: ChunkPool
  var model: Model
  let groups: [ChunkGroup?]
  var pairs: [Pair] = []
  var tokens: [Token] = []
  var frames: [(id: Int, end: () -> Void)] = []
  let lates = Locked<[(name: String, part: LateFree)]>([])
  let events = Locked<[Model.Freed]>([])
  var random: SeededGenerator
  var made = 0
  var frameCount = 0
  /// Scopes and frames that are closures.
  var depth = 0
  var steps = 0
  var history: [String] = []
  var mistake: String?

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    let budget = 4_096 * Int.random(in: 5...20, using: &random)
    pool = ChunkPool(budget: .bytes(budget), time: clock.read)
    // The model knows of bytes, not of where they lie.
    pool.freesAhead = false
    model = Model(budget: budget)
    model.time = clock.now
    groups = [nil, ChunkGroup(in: pool, label: "left"), ChunkGroup(in: pool, label: "right")]
    pool.observe { [events] event in
      guard case .freed(let label, _, let size, let reason) = event else { return }
      events.withLock { $0.append(Model.Freed(name: label, size: size, reason: reason.rawValue)) }
    }
    for _ in 0..<Int.random(in: 4...20, using: &random) { make() }
  }

  func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
  func anyPair() -> Pair { pairs[below(pairs.count)] }

  func anySize() -> Int {
    switch below(10) {
    case 0: 0
    case 1: Int.random(in: 0...100_000, using: &random)
    default: Int.random(in: 1...20_000, using: &random)
    }
  }

  func someChunks() -> [Pair] { Array(pairs.shuffled(using: &random).prefix(1 + below(4))) }

  /// Makes a chunk of any kind.
  func make() {
    let group = below(3)
    let name = "\(made)"
    let size = anySize()
    let script = Script()
    made += 1
    let real: MemChunk
    let model: Model.Chunk
    switch below(3) {
    case 0:
      let chunk = TrackedChunk(in: pool, group: groups[group], label: name, size: size)
      chunk.hooks.generate = { _ in try script.generate() }
      chunk.hooks.free = { [lates] chunk in
        guard let bytes = script.late.current else { return }
        let part = chunk.deferFree(bytes)
        lates.withLock { $0.append((chunk.label, part)) }
      }
      real = chunk
      model = Model.Chunk(name, group: group, lanes: 1, unit: 1, declared: size)
    case 1:
      real = ValueChunk(in: pool, group: groups[group], label: name, size: size, generate: Self.value(script))
      model = Model.Chunk(name, group: group, lanes: 2, unit: 1, declared: size)
    default:
      real = BufferChunk(in: pool, group: groups[group], label: name, size: size, generate: Self.fill(script))
      model = Model.Chunk(name, group: group, lanes: 2, unit: 4_096, declared: size)
    }
    script.chunk.set(Script.Weak(chunk: real))
    self.model.chunks.append(model)
    pairs.append(Pair(real, model, script))
  }

  static func value(_ script: Script) -> @Sendable () throws -> UInt8 {
    {
      try script.generate()
      return script.content.current
    }
  }

  static func fill(_ script: Script) -> BufferChunk.Generator {
    { bytes in
      try script.generate()
      for offset in [0, bytes.byteCount - 1] where offset >= 0 && bytes.byteCount > 0 {
        bytes.storeBytes(of: script.content.current, toByteOffset: offset, as: UInt8.self)
      }
    }
  }

  /// Whether a product that somebody uses is what it should be.
  func isWhole(_ pair: Pair) -> Bool {
    let expected = pair.script.content.current
    switch pair.real {
    case let chunk as TrackedChunk: return chunk.isWhole
    case let chunk as ValueChunk<UInt8>: return (try? chunk.withReady { $0 == expected }) ?? false
    default:
      let chunk = pair.real as! BufferChunk
      return
        (try? chunk.withBytes { bytes in
          bytes.byteCount == 0
            || bytes.unsafeLoad(fromByteOffset: 0, as: UInt8.self) == expected
              && bytes.unsafeLoad(fromByteOffset: bytes.byteCount - 1, as: UInt8.self) == expected
        }) ?? false
    }
  }
}
