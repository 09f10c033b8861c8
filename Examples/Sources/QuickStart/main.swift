import MemChunks

let pool = ChunkPool(budget: .megabytes(10))
let story = "Once upon a time there was a phone with ten megabytes to spare."

// A picture of 1200 x 800. The pool owns its memory, and the closure draws into it.
let photo = BufferChunk(in: pool, size: 4 * 1200 * 800) { bytes in
  for offset in 0..<bytes.byteCount { bytes.storeBytes(of: UInt8(offset & 0xFF), toByteOffset: offset, as: UInt8.self) }
}
// Any value, with the closure that makes it.
let words = ValueChunk(in: pool, size: 4_000) { story.split(separator: " ").map(String.init) }

print(try photo.withBytes { $0.unsafeLoad(fromByteOffset: 100, as: UInt8.self) })  // generates, then lends the bytes
print(try words.withReady { $0.count })
pool.freeAll()  // nothing is lost: whoever needs a chunk next generates it again
print(try photo.withBytes { $0.unsafeLoad(fromByteOffset: 100, as: UInt8.self) })
print(pool)
