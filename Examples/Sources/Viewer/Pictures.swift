/// The pictures that somebody looks through: 200 of different sizes, 87 MB in all, each of one pattern.
struct Picture {
  static let count = 200

  let number: Int

  var byteCount: Int {
    let width = 256 + 32 * (number % 9)
    return 4 * width * (width * 3 / 4)
  }

  /// Draws into memory: every pixel says which picture it belongs to, and where it is.
  func draw(into pixels: UnsafeMutableBufferPointer<UInt32>) {
    for index in pixels.indices { pixels[index] = pixel(index) }
  }

  /// The picture in memory of its own.
  func drawn() -> [UInt32] {
    Array(unsafeUninitializedCapacity: byteCount / 4) { pixels, count in
      count = byteCount / 4
      draw(into: UnsafeMutableBufferPointer(rebasing: pixels[..<count]))
    }
  }

  /// Whether memory holds this picture, judged by some of its pixels.
  func isDrawn(in pixels: UnsafeBufferPointer<UInt32>) -> Bool {
    pixels.count == byteCount / 4
      && stride(from: 0, to: pixels.count, by: 997).allSatisfy { pixels[$0] == pixel($0) }
  }

  private func pixel(_ index: Int) -> UInt32 { UInt32(number) << 24 | UInt32(index & 0xFF_FFFF) }
}

/// What somebody looks at next: a few pictures often, most of them rarely, as Zipf's law has it. Always the same order.
struct Views {
  private var state: UInt64 = 1
  /// For each picture the share of all views that it and those before it get.
  private let shares: [Double]

  init() {
    let weights = (1...Picture.count).map { 1 / Double($0) }
    let sum = weights.reduce(0, +)
    shares = weights.reduce(into: []) { $0.append(($0.last ?? 0) + $1 / sum) }
  }

  mutating func next() -> Int {
    // SplitMix64 (Steele, Lea, Flood 2014).
    state &+= 0x9e37_79b9_7f4a_7c15
    var bits = state
    bits = (bits ^ bits >> 30) &* 0xbf58_476d_1ce4_e5b9
    bits = (bits ^ bits >> 27) &* 0x94d0_49bb_1331_11eb
    let share = Double((bits ^ bits >> 31) >> 11) / Double(1 << 53)
    return shares.firstIndex { share < $0 } ?? Picture.count - 1
  }
}
