import MemChunks

let pool = ChunkPool(budget: .megabytes(10))

// A picture of 1200 x 800. The pool owns its memory, and the closure draws into it.
let photo = BufferChunk(in: pool, label: "photo", size: 4 * 1200 * 800) { bytes in
  for offset in 0..<bytes.byteCount { bytes.storeBytes(of: UInt8(offset & 0xFF), toByteOffset: offset, as: UInt8.self) }
}
// Any value, with the closure that makes it.
let squares = ValueChunk(in: pool, label: "squares", size: 8_000) { (0..<1_000).map { $0 * $0 } }

print(try photo.withBytes { $0.unsafeLoad(fromByteOffset: 100, as: UInt8.self) })  // generates, then lends the bytes
print(try squares.withReady { $0[12] })
pool.freeAll()  // nothing is lost: whoever needs a chunk next generates it again
print(try squares.withReady { $0[12] })
print(pool)
