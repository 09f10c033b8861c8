internal import CResampling

/// A picture at another size, made row by row of one that is read row by row.
///
/// Only as many rows are in memory as a row is made of, each already of the new width. Colour is multiplied by alpha while
/// pixels are mixed, so that what is transparent has no colour to give. Belongs to one thread at a time.
public final class ResampledRows: PictureRows {
  /// Pixels in a row.
  public let width: Int
  /// Rows in the picture.
  public let height: Int
  /// What was wrong with the file, where that was passed over; nil as long as nothing was.
  public var warning: PictureError? { source.warning }

  private let source: any PictureRows
  private let across: ResamplingWeights
  private let down: ResamplingWeights
  private let curve: LightCurve?
  /// A row of the source as floats.
  private let wide: UnsafeMutableBufferPointer<Float>
  /// Rows of the source in the new width; each at the place that its number leaves over.
  private let ring: UnsafeMutableBufferPointer<Float>
  private let ringCount: Int
  /// A row that is made, as floats, and as it is given out.
  private let sum: UnsafeMutableBufferPointer<Float>
  private let row: UnsafeMutableRawBufferPointer
  private var pointers: [UnsafePointer<Float>?]
  private var rowsTaken = 0
  private var rowsMade = 0

  /// The bytes that it takes, for a picture of one size becoming one of another; what it reads from comes on top.
  public static func byteCount(
    from source: (width: Int, height: Int), to target: (width: Int, height: Int), _ filter: ResamplingFilter? = nil,
    light: ResamplingLight = .gamma
  ) -> Int {
    let (across, down) = filters(filter, from: source, to: target)
    let ring = ResamplingWeights.mostPixels(from: source.height, to: target.height, down)
    let pixels = source.width + (ring + 1) * target.width
    return 16 * pixels + 4 * target.width + 8 * ring + (light == .linear ? LightCurve.byteCount : 0)
      + ResamplingWeights.byteCount(from: source.width, to: target.width, across)
      + ResamplingWeights.byteCount(from: source.height, to: target.height, down) + (1 << 10)
  }

  private static func filters(
    _ filter: ResamplingFilter?, from source: (width: Int, height: Int), to target: (width: Int, height: Int)
  ) -> (across: ResamplingFilter, down: ResamplingFilter) {
    (
      filter ?? .suiting(from: source.width, to: target.width),
      filter ?? .suiting(from: source.height, to: target.height)
    )
  }

  /// Prepares to make a picture of `width` x `height` pixels; reads nothing yet.
  ///
  /// - Parameters:
  ///   - source: Rows that nobody has read yet.
  ///   - filter: The filter for both sides; nil for the one that suits each.
  /// - Precondition: No side is less than 1.
  public convenience init(
    _ source: any PictureRows, width: Int, height: Int, filter: ResamplingFilter? = nil,
    light: ResamplingLight = .gamma
  ) {
    self.init(
      source, extent: (8 * source.width, 8 * source.height), width: width, height: height, filter: filter, light: light)
  }

  /// Prepares to make a picture of the part of `source` that `extent` says, from its first pixel on and in eighths of a
  /// pixel: the last ones may lie beyond the edge in part.
  init(
    _ source: any PictureRows, extent: (width: Int, height: Int), width: Int, height: Int, filter: ResamplingFilter?,
    light: ResamplingLight
  ) {
    precondition(width > 0 && height > 0, "a picture has at least one pixel")
    self.source = source
    (self.width, self.height) = (width, height)
    let filters = Self.filters(filter, from: (source.width, source.height), to: (width, height))
    across = ResamplingWeights(from: source.width, extent: extent.width, to: width, filters.across)
    down = ResamplingWeights(from: source.height, extent: extent.height, to: height, filters.down)
    curve = light == .linear ? LightCurve() : nil
    ringCount = down.mostPixels
    func floats(_ pixels: Int) -> UnsafeMutableBufferPointer<Float> {
      UnsafeMutableRawBufferPointer.allocate(byteCount: 16 * pixels, alignment: 16).bindMemory(to: Float.self)
    }
    wide = floats(source.width)
    ring = floats(ringCount * width)
    sum = floats(width)
    row = .allocate(byteCount: 4 * width, alignment: 16)
    pointers = Array(repeating: nil, count: ringCount)
  }

  deinit {
    for floats in [wide, ring, sum] { UnsafeMutableRawBufferPointer(floats).deallocate() }
    row.deallocate()
  }

  /// Makes the next row, nil after the last one; it is valid until the next call.
  ///
  /// - Throws: What the source's `nextRow()` throws.
  public func nextRow() throws -> UnsafeRawBufferPointer? {
    if rowsMade == height { return nil }
    let rows = down.sources(of: rowsMade)
    while rowsTaken < rows.upperBound { try takeRow() }
    for (place, index) in rows.enumerated() { pointers[place] = UnsafePointer(line(index)) }
    // The last row that is read says whether the file ends as it should, and every filter reaches to it.
    down.weights.withUnsafeBufferPointer { weights in
      crs_down(
        pointers, weights.baseAddress! + down.windows[rowsMade].weights, rows.count, width, sum.baseAddress)
    }
    rowsMade += 1
    let pixels = row.bindMemory(to: UInt8.self).baseAddress
    if let curve {
      curve.steps.withUnsafeBufferPointer { crs_narrow(sum.baseAddress, width, $0.baseAddress, pixels) }
    } else {
      crs_narrow(sum.baseAddress, width, nil, pixels)
    }
    return UnsafeRawBufferPointer(row)
  }

  private func takeRow() throws {
    if source.restIsMissing {
      UnsafeMutableBufferPointer(start: line(rowsTaken), count: 4 * width).update(repeating: 0)
      rowsTaken += 1
      return
    }
    guard let next = try source.nextRow() else { preconditionFailure("row \(rowsTaken) is not in the picture") }
    let pixels = next.bindMemory(to: UInt8.self).baseAddress
    if let curve {
      curve.light.withUnsafeBufferPointer { crs_widen(pixels, source.width, $0.baseAddress, wide.baseAddress) }
    } else {
      crs_widen(pixels, source.width, nil, wide.baseAddress)
    }
    across.weights.withUnsafeBufferPointer { weights in
      across.windows.withUnsafeBufferPointer { windows in
        crs_across(wide.baseAddress, windows.baseAddress, weights.baseAddress, width, line(rowsTaken))
      }
    }
    rowsTaken += 1
  }

  /// Where a row of the source is in the ring.
  private func line(_ index: Int) -> UnsafeMutablePointer<Float> {
    // The ring is not empty, as no picture is.
    ring.baseAddress! + index % ringCount * 4 * width
  }
}
