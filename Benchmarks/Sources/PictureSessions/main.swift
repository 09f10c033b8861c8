// Two programs that show pictures, always in the same order, whatever the budget: what is asked of a pool in earnest, for
// comparing what a replay of it foretells with what comes of it at other budgets.
//
//   PictureSessions viewer POLICY BUDGET VIEWS TRACE PHOTO ...     photos, each from pixels, these from a compact picture
//   PictureSessions document POLICY BUDGET VIEWS TRACE PHOTO ...   a canvas on which photos lie, a window of tiles at a time
//
// POLICY is lru, costAware or adaptive; BUDGET is in bytes.

import ChunkTrace
import MemChunks
import Pictures

let words = Array(CommandLine.arguments.dropFirst())
let policies: [String: EvictPolicy] = ["lru": .lru, "costAware": .costAware, "adaptive": .adaptive]
guard words.count > 5, let policy = policies[words[1]], let budget = Int(words[2]), let views = Int(words[3]) else {
  fatalError("PictureSessions viewer|document POLICY BUDGET VIEWS TRACE PHOTO ...")
}
let pool = ChunkPool(budget: .bytes(budget), policy: policy)
let recorder = try TraceRecorder(of: pool, to: words[4])
let photos = try words[5...].map { try Picture.open(BytePath($0)) }
let sum = try words[0] == "viewer" ? showPhotos(photos, views, in: pool) : showTiles(photos, views, in: pool)
try recorder.close()
let numbers = pool.statistics
print("{\"generations\":\(numbers.generations),\"generatedBytes\":\(numbers.bytesGenerated),\"sum\":\(sum)}")

/// Looks at photos, a few of them often, as Zipf's law has it.
func showPhotos(_ photos: [Picture], _ views: Int, in pool: ChunkPool) throws -> Int {
  let previews = try photos.map { try PicturePreview($0, width: 480, height: 360, in: pool) }
  let weights = previews.indices.map { 1 / Double($0 + 1) }
  var random = Generator(state: 1)
  var sum = 0
  for _ in 0..<views {
    var place = Double.random(in: 0..<weights.reduce(0, +), using: &random)
    var photo = 0
    while photo < previews.count - 1, place >= weights[photo] {
      place -= weights[photo]
      photo += 1
    }
    sum += try previews[photo].pixels.withBytes { $0.withUnsafeBytes { Int($0[$0.count / 2]) } }
  }
  return sum
}

/// Moves a window of 4 x 3 tiles over a canvas of 16 x 12, on which each photo lies somewhere.
func showTiles(_ photos: [Picture], _ views: Int, in pool: ChunkPool) throws -> Int {
  var random = Generator(state: 1)
  let layers = try photos.map { photo in
    let chunk = try PictureChunk(photo, width: 480, height: 360, in: pool)
    return Layer(
      x: Int.random(in: 0...1_440, using: &random), y: Int.random(in: 0...1_080, using: &random), pixels: chunk.pixels!)
  }
  let tiles = (0..<192).map { tile(across: $0 % 16, down: $0 / 16, of: layers, in: pool) }
  var (left, top, sum) = (0, 0, 0)
  for _ in 0..<views {
    left = max(0, min(12, left + Int.random(in: -2...2, using: &random)))
    top = max(0, min(9, top + Int.random(in: -2...2, using: &random)))
    for y in top..<(top + 3) {
      for x in left..<(left + 4) {
        sum += try tiles[16 * y + x].withBytes { $0.withUnsafeBytes { Int($0[$0.count / 2]) } }
      }
    }
  }
  return sum
}

/// A photo that lies on a canvas.
struct Layer {
  let x: Int
  let y: Int
  let pixels: BufferChunk
}

/// Lays over each other what photos have of 120 x 120 pixels of the canvas.
func tile(across: Int, down: Int, of layers: [Layer], in pool: ChunkPool) -> BufferChunk {
  let (x, y) = (120 * across, 120 * down)
  let met = layers.filter { $0.x < x + 120 && $0.x + 480 > x && $0.y < y + 120 && $0.y + 360 > y }
  return BufferChunk(in: pool, label: "tile \(across), \(down)", size: 4 * 120 * 120) { target in
    try target.withUnsafeMutableBytes { target in
      for index in target.indices { target[index] = 0 }
      for layer in met {
        try layer.pixels.withBytes { bytes in
          bytes.withUnsafeBytes { source in
            for row in max(y, layer.y)..<min(y + 120, layer.y + 360) {
              let columns = max(x, layer.x)..<min(x + 120, layer.x + 480)
              let from = 4 * (480 * (row - layer.y) + columns.lowerBound - layer.x)
              let to = 4 * (120 * (row - y) + columns.lowerBound - x)
              for byte in 0..<(4 * columns.count) {
                target[to + byte] = target[to + byte] / 2 + source[from + byte] / 2
              }
            }
          }
        }
      }
    }
  }
}

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Generator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var bits = state
    bits = (bits ^ bits >> 30) &* 0xbf58_476d_1ce4_e5b9
    bits = (bits ^ bits >> 27) &* 0x94d0_49bb_1331_11eb
    return bits ^ bits >> 31
  }
}
