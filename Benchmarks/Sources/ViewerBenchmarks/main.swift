// A viewer: photos looked at again and again, a few of them often, at the size of a window and within 32 MB.
//
//   ViewerBenchmarks order VIEWS PHOTOS       writes the order of views, for this program and for `qt.cpp`
//   ViewerBenchmarks view POLICY WAY FOLDER   looks at FOLDER/1.jpg and so on in the order on standard input
//
// POLICY is `lru`, `costAware` or `adaptive`; WAY is `compact`, for pixels that are made of a compact form, or `file`, for
// pixels that are made of the file each time. `Benchmarks/Viewer/run` runs all of them, beside Qt.
import Glibc
import MemChunks
import Pictures

let width = 500, height = 375, budget = ByteCount.megabytes(32)

/// Numbers from 0 up to a bound, number k as often as 1 / (k + 1): Zipf's law with exponent 1.
struct Zipf {
  private let sums: [Double]
  private var state: UInt64 = 1

  init(_ count: Int) {
    var sum = 0.0
    sums = (1...count).map { rank in
      sum += 1 / Double(rank)
      return sum
    }
  }

  mutating func next() -> Int {
    let target = random() * sums[sums.count - 1]
    return sums.firstIndex { $0 > target } ?? sums.count - 1
  }

  /// SplitMix64 (Steele, Lea, Flood 2014), from 0 to 1.
  private mutating func random() -> Double {
    state &+= 0x9e37_79b9_7f4a_7c15
    var bits = state
    bits = (bits ^ bits >> 30) &* 0xbf58_476d_1ce4_e5b9
    bits = (bits ^ bits >> 27) &* 0x94d0_49bb_1331_11eb
    return Double((bits ^ bits >> 31) >> 11) / Double(1 << 53)
  }
}

/// The pixels of the photos, as chunks.
func openAlbum(_ folder: String, _ count: Int, isCompact: Bool, in pool: ChunkPool) throws -> [BufferChunk] {
  try (1...count).map { number in
    let picture = try Picture.open(BytePath("\(folder)/\(number).jpg"))
    if isCompact { return try PicturePreview(picture, width: width, height: height, in: pool).pixels }
    guard let pixels = try PictureChunk(picture, width: width, height: height, in: pool).pixels else {
      fail("the budget does not hold the pixels of \(picture.name)")
    }
    return pixels
  }
}

/// Looks at some of the pixels, as both programs do: the sum of the colours in every eighth row.
func look(_ bytes: borrowing RawSpan) -> Int {
  bytes.withUnsafeBytes { bytes in
    var sum = 0
    for y in stride(from: 0, to: height, by: 8) {
      for x in 0..<width {
        let start = 4 * (y * width + x)
        sum += Int(bytes[start]) + Int(bytes[start + 1]) + Int(bytes[start + 2])
      }
    }
    return sum
  }
}

func view(_ policy: EvictPolicy, isCompact: Bool, _ folder: String, _ order: [Int]) throws {
  let pool = ChunkPool(budget: budget, policy: policy)
  let album = try openAlbum(folder, (order.max() ?? 0) + 1, isCompact: isCompact, in: pool)
  var hits = 0, sum = 0
  for photo in order {
    if album[photo].isReady { hits += 1 }
    sum += try album[photo].withBytes(look)
  }
  let generations = pool.statistics.generations
  // What is not a hit makes pixels; the rest of what was made are compact forms.
  let decoded = isCompact ? generations - (order.count - hits) : generations
  print("{\"hits\": \(hits), \"decoded\": \(decoded), \"sum\": \(sum), \"counted\": \(pool.statistics.peak)}")
}

func readOrder() -> [Int] {
  var order: [Int] = []
  while let line = readLine() {
    guard let photo = Int(line) else { fail("no number: \(line)") }
    order.append(photo)
  }
  return order
}

func fail(_ why: String) -> Never {
  print("ViewerBenchmarks: \(why)")
  exit(2)
}

let policies: [String: EvictPolicy] = ["lru": .lru, "costAware": .costAware, "adaptive": .adaptive]
let words = CommandLine.arguments.dropFirst()
switch (words.first, words.count) {
case ("order", 3):
  guard let views = Int(words[2]), let photos = Int(words[3]), photos > 0 else { fail("no numbers: \(words)") }
  var zipf = Zipf(photos)
  for _ in 0..<views { print(zipf.next()) }
case ("view", 4):
  guard let policy = policies[words[2]], ["compact", "file"].contains(words[3]) else {
    fail("no such variant: \(words)")
  }
  try view(policy, isCompact: words[3] == "compact", words[4], readOrder())
default: fail("see the beginning of main.swift")
}
