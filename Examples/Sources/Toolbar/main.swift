// A frame that draws a toolbar: 64 icons, and a glass effect over them. All of it together is larger than the
// budget, but no frame needs all of it. What a frame has used stays until that frame ends.

import MemChunks

/// The classic way: a subclass that owns its memory, and says how big it is, how to make it and how to free it.
final class Icon: MemChunk, @unchecked Sendable {
  static let side = 64
  private let color: UInt32
  private(set) var pixels: [UInt32] = []

  init(_ number: Int, in pool: ChunkPool) {
    color = 0xFF00_0000 | UInt32(number * 4)
    super.init(in: pool, label: "icon \(number)")
  }

  override var size: Int { Icon.side * Icon.side * MemoryLayout<UInt32>.stride }
  override func generate() throws { pixels = Array(repeating: color, count: Icon.side * Icon.side) }
  override func free() { pixels = [] }
}

let pool = ChunkPool(budget: .kilobytes(512))  // room for 32 icons
let icons = (0..<64).map { Icon($0, in: pool) }

var drawn = 0
for frame in 0..<60 {
  try pool.frame {
    // The bar shows 20 icons and scrolls by one in every frame.
    for place in 0..<20 {
      let icon = icons[(frame + place) % icons.count]
      try icon.ensureReady()
      drawn += icon.pixels.isEmpty ? 0 : 1
    }
  }
}

let statistics = pool.statistics
print("drew \(drawn) icons in 60 frames; generated \(statistics.generations), freed \(statistics.frees)")
precondition(drawn == 60 * 20, "every icon was there when it was drawn")
precondition(statistics.generations < 100, "an icon that stays in sight is not generated again")
