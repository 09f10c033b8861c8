/// Shrinks a picture row by row to a thumbnail, each pixel being the mean of a square of the picture's.
struct ThumbnailRows {
  /// The most pixels that a side of a thumbnail has (OpenRaster file layout specification).
  private static let side = 256

  /// Pixels in a row of the thumbnail.
  let width: Int
  /// Rows of the thumbnail.
  let height: Int
  /// The rows that are done: 8-bit RGBA with straight alpha.
  private(set) var pixels: [UInt8] = []
  private let pictureWidth: Int
  private let pictureHeight: Int
  private let step: Int
  /// What the rows since the last one that was done add up to.
  private var sums: [Int]
  private var rowCount = 0
  private var rowsTaken = 0

  init(of width: Int, _ height: Int) {
    step = (max(width, height) + Self.side - 1) / Self.side
    pictureWidth = width
    pictureHeight = height
    self.width = (width + step - 1) / step
    self.height = (height + step - 1) / step
    sums = Array(repeating: 0, count: 4 * self.width)
  }

  /// Takes the next row of the picture: 8-bit RGBA with straight alpha.
  mutating func add(_ row: UnsafeRawBufferPointer) {
    // Colour is weighted by alpha, so that what is transparent has no colour to give.
    for column in 0..<pictureWidth {
      let alpha = Int(row[4 * column + 3])
      for channel in 0..<3 {
        sums[4 * (column / step) + channel] += alpha * Int(row[4 * column + channel])
      }
      sums[4 * (column / step) + 3] += alpha
    }
    rowCount += 1
    rowsTaken += 1
    if rowCount == step || rowsTaken == pictureHeight { finishRow() }
  }

  private mutating func finishRow() {
    for column in 0..<width {
      let pixelCount = rowCount * min(step, pictureWidth - column * step)
      let alpha = sums[4 * column + 3]
      for channel in 0..<3 {
        pixels.append(alpha == 0 ? 0 : UInt8((sums[4 * column + channel] + alpha / 2) / alpha))
      }
      pixels.append(UInt8((alpha + pixelCount / 2) / pixelCount))
    }
    sums = Array(repeating: 0, count: sums.count)
    rowCount = 0
  }
}
