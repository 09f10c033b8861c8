import MemChunks
import TestSupport

/// A failure that a test makes by itself.
struct Broken: Error, Equatable {
  var number = 0
}

/// The error of the pool that `body` ends with; nil if it ends well. Any other error ends the test.
func chunkError(_ body: () throws -> Void) -> ChunkError? {
  do {
    try body()
    return nil
  } catch let error as ChunkError {
    return error
  } catch {
    preconditionFailure("not an error of the pool: \(error)")
  }
}

/// The numbers of the refusal that `body` ends with; nil if it ends otherwise.
func refusal(_ body: () throws -> Void) -> ChunkError.NoRoom? {
  if case .noRoom(let numbers)? = chunkError(body) { numbers } else { nil }
}

/// What `tooLarge` says, in a form that can be compared.
struct TooLarge: Equatable {
  var label: String
  var needed: Int
  var limit: Int
  var group: String?

  init(_ label: String, needed: Int, limit: Int, group: String? = nil) {
    (self.label, self.needed, self.limit, self.group) = (label, needed, limit, group)
  }

  /// Nil if `body` does not end with that error.
  init?(_ body: () throws -> Void) {
    guard case .tooLarge(let label, let needed, let limit, let group)? = chunkError(body) else { return nil }
    self.init(label, needed: needed, limit: limit, group: group)
  }
}

extension ChunkPool {
  /// Makes chunks of one size, labelled by a letter and their number.
  func tracked(
    _ count: Int, of size: Int, _ letter: String = "c", group: ChunkGroup? = nil, log: ChunkLog? = nil,
    tally: ByteTally? = nil
  ) -> [TrackedChunk] {
    (0..<count).map {
      TrackedChunk(in: self, group: group, label: "\(letter)\($0)", size: size, log: log, tally: tally)
    }
  }

  /// Makes one chunk.
  func tracked(
    _ label: String, _ size: Int, group: ChunkGroup? = nil, log: ChunkLog? = nil, tally: ByteTally? = nil
  ) -> TrackedChunk {
    TrackedChunk(in: self, group: group, label: label, size: size, log: log, tally: tally)
  }

  /// Bytes that generations and frees hold for themselves: none while nothing runs.
  var unsettled: Int {
    let numbers = statistics
    return numbers.reserved + numbers.freeing
  }
}

extension ChunkGroup.Totals {
  /// All that the group counts.
  var sum: Int { ready + reserved + freeing }
}

/// Chunks that are ready, by label.
func readyLabels(_ chunks: [TrackedChunk]) -> [String] { chunks.filter(\.isReady).map(\.label) }

/// Says that these chunks are still there. An optimised build lets go of a chunk after its last mention, and so frees it.
@inline(never)
func keep(_ chunks: [MemChunk]) { withExtendedLifetime(chunks) {} }

/// A pin as an object, so that an array can hold it.
final class HeldPin {
  private let pin: Pin<MemChunk>

  init(_ chunk: MemChunk, waitingUpTo limit: Duration? = nil) throws { pin = try chunk.pin(waitingUpTo: limit) }
}
