import MemChunks
import TestSupport
import Testing

/// Buffers of the pool's own arena, each filled with its number and looked at whenever it is used.
@Suite("Stress: buffers", .timeLimit(.hang))
struct StressBuffersTests {
  /// Which number, and how often it was changed: a byte for each.
  private struct Mark: Equatable {
    var number: UInt8
    var edition: UInt8
  }

  private static let page = 4_096

  private static func generator(_ mark: Mark) -> BufferChunk.Generator {
    { bytes in
      var offset = 0
      // Not every byte, for the sake of speed under sanitizers; but on every page, and at both ends.
      while offset + 2 <= bytes.byteCount {
        bytes.storeBytes(of: mark.number, toByteOffset: offset, as: UInt8.self)
        bytes.storeBytes(of: mark.edition, toByteOffset: offset + 1, as: UInt8.self)
        offset += 512
      }
      if bytes.byteCount > 1 {
        bytes.storeBytes(of: mark.number, toByteOffset: bytes.byteCount - 1, as: UInt8.self)
      }
    }
  }

  /// Stops the program when the bytes are not all of one edition of that number. Sizes are multiples of four, so that
  /// the last byte is not an edition's.
  private static func check(_ span: RawSpan, _ number: UInt8) {
    guard span.byteCount > 1 else { return }
    let edition = span.unsafeLoad(fromByteOffset: 1, as: UInt8.self)
    var offset = 0
    while offset + 2 <= span.byteCount {
      precondition(span.unsafeLoad(fromByteOffset: offset, as: UInt8.self) == number, "another buffer's bytes")
      precondition(span.unsafeLoad(fromByteOffset: offset + 1, as: UInt8.self) == edition, "two editions in one")
      offset += 512
    }
    precondition(span.unsafeLoad(fromByteOffset: span.byteCount - 1, as: UInt8.self) == number, "a torn end")
  }

  @Test("buffers of all sizes, changed, dropped and trimmed while they are read")
  func buffers() async throws {
    let seed = Stress.seed("buffers")
    let pool = ChunkPool(budget: .bytes(40 * Self.page))
    let chunks = (0..<24).map { number in
      BufferChunk(
        in: pool, label: "\(number)", size: number * 700,
        generate: Self.generator(Mark(number: UInt8(number), edition: 0)))
    }
    let other = (0..<4).map { TrackedChunk(in: pool, label: "plain \($0)", size: 3 * Self.page) }
    let odd = Locked<[Outcome]>([])
    let sampler = sampler(of: pool)
    try await noHang(onThreads: 5) { index in
      var random = SeededGenerator(seed: seed &+ UInt64(index))
      for round in 0..<Stress.rounds(3_000) {
        let number = Int.random(in: 0..<24, using: &random)
        let chunk = chunks[number]
        let outcome = outcome {
          switch Int.random(in: 0..<16, using: &random) {
          case 0:
            let size = Int.random(in: 0...3 * Self.page, using: &random) * 4
            chunk.update(
              size: size, generate: Self.generator(Mark(number: UInt8(number), edition: UInt8(round % 251))))
          case 1: chunk.discard()
          case 2: pool.trim(to: .bytes(Int.random(in: 0...40, using: &random) * Self.page))
          case 3: try other.randomElement(using: &random)!.ensureReady()
          case 4:
            let pin = try chunk.pin()
            pin.withBytes { Self.check($0, UInt8(number)) }
            chunk.invalidate()
            // The old bytes stay for who holds them.
            pin.withBytes { Self.check($0, UInt8(number)) }
          case 5:
            let second = Int.random(in: 0..<24, using: &random)
            try pool.withReady([chunk, chunks[second]]) {
              try chunk.withBytes { Self.check($0, UInt8(number)) }
              try chunks[second].withBytes { Self.check($0, UInt8(second)) }
            }
          case 6: pool.prefetch([chunk, chunks.randomElement(using: &random)!])
          default: try chunk.withBytes { Self.check($0, UInt8(number)) }
          }
        }
        if !Stress.allows(outcome) { odd.withLock { $0.append(outcome) } }
      }
    }
    sampler.stop()
    #expect(odd.current.isEmpty, "seed \(seed): \(odd.current.prefix(3))")
    checkNothingIsLeft(of: pool)
  }

  @Test("the budget moves up and down under buffers in use")
  func movingBudget() async throws {
    let seed = Stress.seed("moving budget")
    let pool = ChunkPool(budget: .bytes(20 * Self.page))
    let chunks = (0..<12).map { number in
      BufferChunk(
        in: pool, label: "\(number)", size: (1 + number % 6) * Self.page,
        generate: Self.generator(Mark(number: UInt8(number), edition: 1)))
    }
    let odd = Locked<[Outcome]>([])
    let sampler = sampler(of: pool, mayExceed: true)
    try await noHang(onThreads: 4) { index in
      var random = SeededGenerator(seed: seed &+ UInt64(index))
      for _ in 0..<Stress.rounds(3_000) {
        let number = Int.random(in: 0..<12, using: &random)
        if index == 0 {
          pool.budget = .bytes(Int.random(in: 2...200, using: &random) * Self.page)
        }
        let outcome = outcome { try chunks[number].withBytes { Self.check($0, UInt8(number)) } }
        if !Stress.allows(outcome) { odd.withLock { $0.append(outcome) } }
      }
    }
    sampler.stop()
    #expect(odd.current.isEmpty, "seed \(seed): \(odd.current.prefix(3))")
    checkNothingIsLeft(of: pool)
  }
}
