public import MemChunks

/// How a use of a chunk ended, in a form that can be compared.
public indirect enum Outcome: Equatable, Sendable {
  /// It was ready.
  case ready
  /// `ChunkError.tooLarge`.
  case tooLarge
  /// `ChunkError.noRoom`, and why it did not wait.
  case noRoom(ChunkError.NoRoom.Reason)
  /// `ChunkError.recursive`, with the labels on the ring.
  case recursive([String])
  /// `ChunkError.generationFailed`, with what was below it.
  case failed(Outcome)
  /// `ChunkError.cancelled`.
  case cancelled(atDeadline: Bool)
  /// `ChunkError.poolClosed`.
  case closed(afterFork: Bool)
  /// `ChunkError.invalidSize`.
  case invalidSize
  /// Any other error, in its own words.
  case other(String)

  /// What an error says.
  public init(_ error: any Error) {
    guard let error = error as? ChunkError else {
      self = .other("\(error)")
      return
    }
    switch error {
    case .tooLarge: self = .tooLarge
    case .noRoom(let numbers): self = .noRoom(numbers.reason)
    case .recursive(let labels): self = .recursive(labels)
    case .generationFailed(_, let underlying): self = .failed(Outcome(underlying))
    case .cancelled(_, let atDeadline): self = .cancelled(atDeadline: atDeadline)
    case .poolClosed(_, let afterFork): self = .closed(afterFork: afterFork)
    case .invalidSize: self = .invalidSize
    }
  }

  /// Whether it is a refusal for want of room, wherever it lies.
  public var isRefusal: Bool {
    switch self {
    case .noRoom: true
    case .failed(let below): below.isRefusal
    default: false
    }
  }

  /// Whether it is a ring, wherever it lies.
  public var isRing: Bool {
    switch self {
    case .recursive: true
    case .failed(let below): below.isRing
    default: false
    }
  }
}

/// How `body` ends.
public func outcome(_ body: () throws -> Void) -> Outcome {
  do { try body() } catch { return Outcome(error) }
  return .ready
}

/// How `body` ends.
public func outcome(_ body: () async throws -> Void) async -> Outcome {
  do { try await body() } catch { return Outcome(error) }
  return .ready
}

/// An error to throw from `generate()`.
public struct Mishap: Error, Equatable, Sendable {
  /// Which one it is.
  public var number: Int

  /// Makes one.
  public init(_ number: Int = 0) { self.number = number }
}
