import Pictures
import TestSupport
import Testing

// Darwin and Musl are not run here.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Rows out of memory.
final class MemoryRows: PictureRows {
  let width: Int
  let height: Int
  var warning: PictureError? { nil }
  private(set) var rowsRead = 0
  /// Rows that are there; those behind are missing.
  private let wholeRows: Int
  private let pixels: [UInt8]
  private let row: UnsafeMutableRawBufferPointer

  init(_ pixels: [UInt8], width: Int, wholeRows: Int = .max) {
    self.pixels = pixels
    self.width = width
    self.wholeRows = wholeRows
    height = pixels.count / 4 / width
    row = .allocate(byteCount: 4 * width, alignment: 16)
  }

  deinit { row.deallocate() }

  var restIsMissing: Bool { rowsRead > wholeRows }

  func nextRow() -> UnsafeRawBufferPointer? {
    if rowsRead == height { return nil }
    row.copyBytes(from: pixels[4 * width * rowsRead..<4 * width * (rowsRead + 1)])
    rowsRead += 1
    return UnsafeRawBufferPointer(row)
  }
}

@Suite struct ResamplingTests {
  private func resampled(
    _ pixels: [UInt8], _ width: Int, to target: (Int, Int), _ filter: ResamplingFilter?,
    _ light: ResamplingLight = .gamma
  ) throws -> [UInt8] {
    let source = MemoryRows(pixels, width: width)
    let rows = ResampledRows(source, width: target.0, height: target.1, filter: filter, light: light)
    #expect(rows.width == target.0 && rows.height == target.1 && source.rowsRead == 0)
    var result: [UInt8] = []
    while let row = try rows.nextRow() { result += row }
    #expect(try rows.nextRow() == nil)
    // What follows the pixels in a file is checked with its last row.
    #expect(source.rowsRead == source.height)
    return result
  }

  @Test("rows that damage has taken are not asked for, and are as if they had been transparent")
  func missingRows() throws {
    var random = SeededGenerator(seed: 31)
    let (width, height, whole) = (40, 90, 37)
    var pixels = (0..<4 * width * height).map { _ in UInt8.random(in: 0...255, using: &random) }
    for index in 4 * width * whole..<pixels.count { pixels[index] = 0 }
    for (filter, target) in [(ResamplingFilter.area, (7, 11)), (.lanczos3, (31, 70)), (.catmullRom, (60, 130))] {
      let source = MemoryRows(pixels, width: width, wholeRows: whole)
      let rows = ResampledRows(source, width: target.0, height: target.1, filter: filter)
      var result: [UInt8] = []
      while let row = try rows.nextRow() { result += row }
      #expect(try result == resampled(pixels, width, to: target, filter))
      #expect(source.rowsRead == whole + 1)
    }
  }

  /// By definition: each filter as a function of the distance, every pixel against every other, in doubles.
  private func reference(
    _ pixels: [UInt8], _ width: Int, to target: (Int, Int), _ filter: ResamplingFilter, _ light: ResamplingLight
  ) -> [Double] {
    let height = pixels.count / 4 / width
    func weights(_ source: Int, _ target: Int) -> [[Double]] {
      (0..<target).map { index in
        let ratio = Double(source) / Double(target), scale = max(1, ratio)
        let raw = (0..<source).map { pixel -> Double in
          if filter == .area {
            let overlap = min(Double(pixel + 1), Double(index + 1) * ratio) - max(Double(pixel), Double(index) * ratio)
            return overlap < 1e-9 ? 0 : overlap
          }
          let x = abs((Double(pixel) + 0.5 - (Double(index) + 0.5) * ratio) / scale)
          func sinc(_ x: Double) -> Double { x == 0 ? 1 : sin(.pi * x) / (.pi * x) }
          if filter == .lanczos3 { return x < 3 ? sinc(x) * sinc(x / 3) : 0 }
          let cubed = x * x * x, squared = x * x
          return x < 1 ? 1.5 * cubed - 2.5 * squared + 1 : x < 2 ? -0.5 * cubed + 2.5 * squared - 4 * x + 2 : 0
        }
        let sum = raw.reduce(0, +)
        return raw.map { $0 / sum }
      }
    }
    let (across, down) = (weights(width, target.0), weights(height, target.1))
    func toLight(_ v: Double) -> Double {
      if light == .gamma { return v }
      return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4)
    }
    func fromLight(_ v: Double) -> Double {
      if light == .gamma { return v }
      return v <= 0.0031308 ? 12.92 * v : 1.055 * pow(v, 1 / 2.4) - 0.055
    }
    var result: [Double] = []
    for y in 0..<target.1 {
      for x in 0..<target.0 {
        var sums = [0.0, 0, 0, 0]
        for row in 0..<height where down[y][row] != 0 {
          for column in 0..<width where across[x][column] != 0 {
            let at = 4 * (row * width + column), weight = down[y][row] * across[x][column]
            let alpha = Double(pixels[at + 3]) / 255
            for channel in 0..<3 { sums[channel] += weight * alpha * toLight(Double(pixels[at + channel]) / 255) }
            sums[3] += weight * alpha
          }
        }
        let alpha = min(1, max(0, sums[3]))
        for channel in 0..<3 {
          result.append(alpha < 0.5 / 255 ? 0 : 255 * fromLight(min(1, max(0, sums[channel] / sums[3]))))
        }
        result.append(255 * alpha)
      }
    }
    return result
  }

  private func noise(_ width: Int, _ height: Int, isOpaque: Bool) -> [UInt8] {
    var random = SeededGenerator(seed: UInt64(width * height))
    return (0..<4 * width * height).map { $0 % 4 == 3 && isOpaque ? 255 : .random(in: 0...255, using: &random) }
  }

  static let sizes: [(from: (Int, Int), to: (Int, Int))] = [
    ((40, 30), (7, 5)), ((41, 29), (13, 11)), ((9, 7), (30, 20)), ((1, 1), (5, 4)), ((30, 1), (4, 3)),
    ((17, 40), (17, 5)), ((6, 6), (5, 7)), ((5, 4), (1, 1)),
  ]

  @Test("every filter comes to what its definition says", arguments: ResamplingFilter.allCases, [true, false])
  func definition(filter: ResamplingFilter, isOpaque: Bool) throws {
    for (from, to) in Self.sizes {
      for light in [ResamplingLight.gamma, .linear] {
        let pixels = noise(from.0, from.1, isOpaque: isOpaque)
        let found = try resampled(pixels, from.0, to: to, filter, light)
        let expected = reference(pixels, from.0, to: to, filter, light)
        // A colour of little alpha is a quotient of small numbers, and the table of light has steps.
        let worst =
          (0..<found.count).map { index -> Double in
            let alpha = expected[index | 3]
            if index % 4 < 3, alpha < 1 { return 0 }
            return abs(Double(found[index]) - expected[index]) - (index % 4 < 3 ? 0.5 * 255 / max(alpha, 1) * 0.01 : 0)
          }.max() ?? 0
        #expect(worst <= (light == .linear ? 0.75 : 0.51), "\(from) to \(to), \(light): \(worst)")
      }
    }
  }

  @Test("the same size is the same picture", arguments: ResamplingFilter.allCases, [ResamplingLight.gamma, .linear])
  func identity(filter: ResamplingFilter, light: ResamplingLight) throws {
    let pixels = noise(23, 17, isOpaque: true)
    #expect(try resampled(pixels, 23, to: (23, 17), filter, light) == pixels)
  }

  @Test("one colour stays that colour at every size", arguments: ResamplingFilter.allCases)
  func oneColor(filter: ResamplingFilter) throws {
    for (from, to) in Self.sizes {
      for pixel in [[200, 100, 3, 255], [7, 90, 255, 30]] as [[UInt8]] {
        let pixels = (0..<from.0 * from.1).flatMap { _ in pixel }
        let found = try resampled(pixels, from.0, to: to, filter)
        #expect(found == (0..<to.0 * to.1).flatMap { _ in pixel }, "\(from) to \(to)")
      }
    }
  }

  @Test func whatIsTransparentHasNoColorToGive() throws {
    let pixels: [UInt8] = [255, 0, 0, 255, 0, 255, 0, 0]
    #expect(try resampled(pixels, 2, to: (1, 1), .area) == [255, 0, 0, 128])
  }

  @Test func blackAndWhiteAreGreyInTheirNumbersOrInTheirLight() throws {
    let pixels: [UInt8] = [0, 0, 0, 255, 255, 255, 255, 255]
    #expect(try resampled(pixels, 2, to: (1, 1), .area) == [128, 128, 128, 255])
    #expect(try resampled(pixels, 2, to: (1, 1), .area, .linear) == [188, 188, 188, 255])
  }

  @Test(
    arguments: [
      (300, 100, .area), (4_000, 256, .area), (299, 100, .lanczos3), (100, 100, .lanczos3), (99, 100, .catmullRom),
    ] as [(Int, Int, ResamplingFilter)])
  func filterThatSuits(from: Int, to: Int, filter: ResamplingFilter) {
    #expect(ResamplingFilter.suiting(from: from, to: to) == filter)
  }

  @Test func memoryGrowsWithRowsNotWithPictures() {
    let small = ResampledRows.byteCount(from: (4_000, 3_000), to: (800, 600))
    #expect(small < 300 << 10)
    #expect(ResampledRows.byteCount(from: (65_500, 65_500), to: (256, 256)) < 5 << 20)
    #expect(ResampledRows.byteCount(from: (100, 65_500), to: (100, 800), .lanczos3) < 3 << 20)
  }
}
