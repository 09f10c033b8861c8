internal import CResampling

/// For each pixel of a side that is made, which pixels of the old one it is made of and how much each counts.
///
/// Weights of a pixel add up to 1. At the edges, where a filter reaches beyond the picture, those that are left do.
struct ResamplingWeights {
  private(set) var windows: [crs_window] = []
  private(set) var weights: [Float] = []
  /// The most pixels that a pixel is made of.
  private(set) var mostPixels = 0

  /// Makes the weights for a side of `source` pixels becoming one of `target`.
  ///
  /// The last pixels of the side may lie beyond the edge of the picture in part: `extent` is how much of the side is in it,
  /// in eighths of a pixel.
  init(from source: Int, extent: Int, to target: Int, _ filter: ResamplingFilter) {
    windows.reserveCapacity(target)
    weights.reserveCapacity(Self.mostWeights(from: source, to: target, filter))
    for index in 0..<target {
      let (first, raw) =
        filter == .area
        ? Self.shares(index, extent: extent, to: target)
        : Self.kernel(index, from: source, extent: extent, to: target, filter)
      let sum = raw.reduce(0, +)
      windows.append(crs_window(first: UInt32(first), count: UInt32(raw.count), weights: weights.count))
      for weight in raw { weights.append(Float(weight / sum)) }
      mostPixels = max(mostPixels, raw.count)
    }
  }

  /// The pixels that a pixel is made of.
  func sources(of index: Int) -> Range<Int> {
    let window = windows[index]
    return Int(window.first)..<Int(window.first + window.count)
  }

  /// The bytes that the weights take at most.
  static func byteCount(from source: Int, to target: Int, _ filter: ResamplingFilter) -> Int {
    MemoryLayout<crs_window>.stride * target
      + MemoryLayout<Float>.stride * mostWeights(from: source, to: target, filter)
  }

  /// The most pixels that a pixel can be made of.
  static func mostPixels(from source: Int, to target: Int, _ filter: ResamplingFilter) -> Int {
    let reach = 2 * filter.radius * max(1, Double(source) / Double(target))
    return min(source, Int(reach) + 2)
  }

  private static func mostWeights(from source: Int, to target: Int, _ filter: ResamplingFilter) -> Int {
    target * mostPixels(from: source, to: target, filter)
  }

  /// How much of each pixel lies beneath pixel `index`, in whole numbers: a pixel that is made is `extent` wide, one that
  /// there is eight times `target`.
  private static func shares(_ index: Int, extent: Int, to target: Int) -> (first: Int, [Double]) {
    let (start, end, pixel) = (index * extent, (index + 1) * extent, 8 * target)
    let first = start / pixel
    let last = (end - 1) / pixel
    return (first, (first...last).map { Double(min(end, ($0 + 1) * pixel) - max(start, $0 * pixel)) })
  }

  private static func kernel(
    _ index: Int, from source: Int, extent: Int, to target: Int, _ filter: ResamplingFilter
  ) -> (first: Int, [Double]) {
    let ratio = Double(extent) / Double(8 * target)
    let scale = max(1, ratio)
    // Pixels are counted by their middles.
    let middle = (Double(index) + 0.5) * ratio - 0.5
    let reach = filter.radius * scale
    let first = max(0, Int((middle - reach).rounded(.up)))
    let last = min(source - 1, Int((middle + reach).rounded(.down)))
    return (first, (first...last).map { filter.weight((Double($0) - middle) / scale) })
  }
}
