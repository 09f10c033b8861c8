/// Shrinks a picture row by row to a thumbnail, each pixel being the mean of a square of the picture's.
struct ThumbnailRows {
  /// The most pixels that a side of a thumbnail has (OpenRaster file layout specification).
  private static let side = 256

  /// Pixels in a row of the thumbnail.
  let width: Int
  /// Rows of the thumbnail.
  let height: Int
  private let pictureWidth: Int
  private let pictureHeight: Int
  private let step: Int
  private var rowsTaken = 0

  init(of width: Int, _ height: Int) {
    step = (max(width, height) + Self.side - 1) / Self.side
    pictureWidth = width
    pictureHeight = height
    self.width = (width + step - 1) / step
    self.height = (height + step - 1) / step
  }

  /// Makes the next row of the thumbnail from the rows of the picture that `next` gives; all 8-bit RGBA, straight.
  mutating func makeRow(_ thumbnail: inout [UInt8], _ next: (inout [UInt8]) throws -> Void) rethrows {
    // Colour is weighted by alpha, so that what is transparent has no colour to give.
    var sums = [Int](repeating: 0, count: 4 * width)
    var row = [UInt8](repeating: 0, count: 4 * pictureWidth)
    let rowCount = min(step, pictureHeight - rowsTaken)
    for _ in 0..<rowCount {
      try next(&row)
      for column in 0..<pictureWidth {
        let alpha = Int(row[4 * column + 3])
        for channel in 0..<3 {
          sums[4 * (column / step) + channel] += alpha * Int(row[4 * column + channel])
        }
        sums[4 * (column / step) + 3] += alpha
      }
    }
    rowsTaken += rowCount
    for column in 0..<width {
      let pixelCount = rowCount * min(step, pictureWidth - column * step)
      let alpha = sums[4 * column + 3]
      for channel in 0..<3 {
        thumbnail[4 * column + channel] = alpha == 0 ? 0 : UInt8((sums[4 * column + channel] + alpha / 2) / alpha)
      }
      thumbnail[4 * column + 3] = UInt8((alpha + pixelCount / 2) / pixelCount)
    }
  }
}
