package import Pictures

// Darwin and Musl are not run here.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// How much of a processor's time decoding a layer took: opening its picture, and its rows by their places.
///
/// What decoding the first rows of a layer takes is what bands cost. Rows differ, as an empty one inflates faster, so they are
/// added up in parts of the picture. Used by the thread that is at the layer's segment, and when all are done.
package final class LayerTimes: @unchecked Sendable {
  private struct Sum {
    var count = 0
    var nanoseconds: UInt64 = 0

    var mean: Double? { count > 0 ? Double(nanoseconds) / Double(count) : nil }

    mutating func add(_ time: UInt64) {
      count += 1
      nanoseconds += time
    }
  }

  let inflater: PNGRowReader.Inflater
  private let partHeight: Int
  private var parts: [Sum]
  private var openings = Sum()
  private var skips = Sum()

  /// More parts would hold a row or two each of most pictures, and take more memory than they tell.
  private static let partCount = 32

  /// - Parameter height: Rows of the picture.
  package init(height: Int, _ inflater: PNGRowReader.Inflater) {
    self.inflater = inflater
    partHeight = (height + Self.partCount - 1) / Self.partCount
    parts = Array(repeating: Sum(), count: (height + partHeight - 1) / partHeight)
  }

  package func note(row: Int, _ nanoseconds: UInt64) { parts[row / partHeight].add(nanoseconds) }

  package func noteOpening(_ nanoseconds: UInt64) { openings.add(nanoseconds) }

  /// Notes that rows from the top on were passed over. The first time these are rows above the canvas, which nobody asks for.
  package func noteSkip(of rowCount: Int, _ nanoseconds: UInt64) {
    skips.add(nanoseconds)
    guard skips.count == 1, rowCount > 0 else { return }
    for row in 0..<rowCount { note(row: row, nanoseconds / UInt64(rowCount)) }
  }

  /// What making ready the layer's decoder took, all in all, in nanoseconds.
  var generating: Double { Double(openings.nanoseconds + skips.nanoseconds) }

  /// What making it ready takes for any row.
  package var curve: Curve {
    let all = Double(parts.reduce(0) { $0 + $1.nanoseconds }) / Double(max(1, parts.reduce(0) { $0 + $1.count }))
    var starts = [openings.mean ?? 0]
    for part in parts { starts.append(starts[starts.count - 1] + Double(partHeight) * (part.mean ?? all)) }
    return Curve(starts: starts, partHeight: partHeight)
  }

  /// What opening the picture and decoding its way to a row takes. Rows that nobody has read count as the others do.
  package struct Curve {
    /// What the first rows of the parts take, and the one behind all.
    fileprivate let starts: [Double]
    fileprivate let partHeight: Int

    /// In nanoseconds.
    package subscript(row: Int) -> Double {
      let (part, rest) = row.quotientAndRemainder(dividingBy: partHeight)
      guard rest > 0 else { return starts[part] }
      return starts[part] + Double(rest) / Double(partHeight) * (starts[part + 1] - starts[part])
    }
  }
}

/// Runs `body`, and notes how many nanoseconds of a processor it took if anybody wants to know.
///
/// Not how long it took: with fewer threads, or on another day, others are less in the way, and what is foretold should be
/// about the work.
func timed<Result>(_ note: ((UInt64) -> Void)?, _ body: () throws -> Result) rethrows -> Result {
  guard let note else { return try body() }
  let start = threadNanoseconds()
  let result = try body()
  note(threadNanoseconds() - start)
  return result
}

private func threadNanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
