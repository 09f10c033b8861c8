import MemChunks
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// Where buffers lie is reserved as it is needed, however large the budget.
@Suite("Address space", .serialized)
struct AddressSpaceTests {
  /// Bytes of address space that this process has.
  private static func reserved() -> Int {
    #if canImport(Glibc)
      guard let file = fopen("/proc/self/statm", "r") else { return 0 }
      defer { fclose(file) }
      var line = [CChar](repeating: 0, count: 256)
      guard fgets(&line, 256, file) != nil else { return 0 }
      return strtol(line, nil, 10) * Int(sysconf(Int32(_SC_PAGESIZE)))
    #else
      return 0
    #endif
  }

  private static func buffer(in pool: ChunkPool, _ size: Int, label: String = "buffer") -> BufferChunk {
    BufferChunk(in: pool, label: label, size: size) { bytes in
      guard bytes.byteCount > 0 else { return }
      bytes.storeBytes(of: 7, toByteOffset: 0, as: UInt8.self)
      bytes.storeBytes(of: 9, toByteOffset: bytes.byteCount - 1, as: UInt8.self)
    }
  }

  private static func isWhole(_ buffer: BufferChunk) throws -> Bool {
    try buffer.withBytes {
      $0.unsafeLoad(fromByteOffset: 0, as: UInt8.self) == 7
        && $0.unsafeLoad(fromByteOffset: $0.byteCount - 1, as: UInt8.self) == 9
    }
  }

  @Test("1 000 pools of a budget without end make a buffer each")
  func manyPools() throws {
    let before = Self.reserved()
    let pools = (0..<1_000).map { _ in ChunkPool(budget: .bytes(.max)) }
    let buffers = pools.map { Self.buffer(in: $0, 5_000) }
    for buffer in buffers { #expect(try Self.isWhole(buffer)) }
    // Two gigabytes each would be a sixtieth of what a process of 47 bits has.
    #expect(Self.reserved() - before < 2_000 << 30)
    for pool in pools { #expect(pool.used.bytes < 10_000) }
    keep(buffers)
  }

  @Test("A pool of a budget without end grows by further pieces, and its buffers stay whole")
  func grows() throws {
    let pool = ChunkPool(budget: .bytes(.max))
    // Only the first and the last page of each is ever touched.
    let buffers = (0..<5).map { Self.buffer(in: pool, 300 << 20, label: "\($0)") }
    for buffer in buffers { try buffer.ensureReady() }
    for buffer in buffers { #expect(try Self.isWhole(buffer)) }
    pool._checkInvariants()
    pool.freeAll()
    for buffer in buffers.reversed() { #expect(try Self.isWhole(buffer)) }
    pool._checkInvariants()
    pool.freeAll()
    #expect(pool.used == .bytes(0))
  }

  @Test(
    "A buffer that no machine has address space for is refused, and the pool goes on",
    arguments: [Int.max / 4 - 8_191, 1 << 50, 1 << 46])
  func hopeless(size: Int) throws {
    let pool = ChunkPool(budget: .bytes(.max))
    let hopeless = Self.buffer(in: pool, size, label: "hopeless"), small = Self.buffer(in: pool, 5_000)
    #expect(outcome { try hopeless.ensureReady() } == .noRoom(.addressSpace))
    #expect(try Self.isWhole(small))
    pool.freeAll()
    let both = outcome { try pool.withReady([hopeless, small]) {} }
    #expect(both == (size > pool.budget.bytes - 8_192 ? .tooLarge : .noRoom(.addressSpace)))
    #expect(try Self.isWhole(small))
    pool._checkInvariants()
    pool.freeAll()
    #expect(pool.used == .bytes(0))
  }
}
