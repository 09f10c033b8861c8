import JPEGReference
import Pictures
import TestSupport

/// Makes JPEG files of every kind for tests, through libjpeg's encoder.
struct JPEGMaker {
  var width: Int
  var height: Int
  var colors = JREF_YCC
  /// How finely components are sampled, across and down; all alike where there are none.
  var sampling: [(across: Int32, down: Int32)] = []
  var quality: Int32 = 90
  var restartInterval: UInt32 = 0
  var isProgressive = false
  var scans: [jref_scan] = []

  /// Samples a pixel, as they are given to the encoder.
  var channels: Int {
    switch colors {
    case JREF_GRAY: 1
    case JREF_YCC, JREF_RGB: 3
    default: 4
    }
  }

  /// Encodes a picture of gentle slopes, edges and a little noise.
  func encode(seed: UInt64 = 1) -> [UInt8] {
    var random = SeededGenerator(seed: seed)
    var samples: [UInt8] = []
    for y in 0..<height {
      for x in 0..<width {
        let edge = (x / 13 + y / 17) % 3 == 0 ? 90 : 0
        for channel in 0..<channels {
          let slope = (x * (channel + 1) + y * (3 - channel)) * 150 / (width + height)
          samples.append(UInt8(clamping: abs(slope) % 140 + edge + Int(random.next() % 24)))
        }
      }
    }
    return encode(samples)
  }

  /// Encodes samples, `channels` a pixel.
  func encode(_ samples: [UInt8]) -> [UInt8] {
    precondition(samples.count == width * height * channels)
    var options = jref_options()
    (options.width, options.height) = (UInt32(width), UInt32(height))
    (options.colors, options.quality) = (colors, quality)
    (options.restart_interval, options.is_progressive) = (restartInterval, isProgressive)
    withUnsafeMutableBytes(of: &options.across) { across in
      for (index, sampling) in sampling.enumerated() {
        across.storeBytes(of: sampling.across, toByteOffset: 4 * index, as: Int32.self)
      }
    }
    withUnsafeMutableBytes(of: &options.down) { down in
      for (index, sampling) in sampling.enumerated() {
        down.storeBytes(of: sampling.down, toByteOffset: 4 * index, as: Int32.self)
      }
    }
    return scans.withUnsafeBufferPointer { scans in
      (options.scans, options.scan_count) = (scans.baseAddress, Int32(scans.count))
      var count = 0
      let bytes = jref_encode(&options, samples, &count)
      defer { free(bytes) }
      return Array(UnsafeBufferPointer(start: bytes, count: count))
    }
  }

  /// A scan of some components' coefficients.
  static func scan(_ components: [Int32], _ coefficients: ClosedRange<Int32>, bits high: Int32, _ low: Int32)
    -> jref_scan
  {
    let padded = components + Array(repeating: 0, count: 4 - components.count)
    return jref_scan(
      component_count: Int32(components.count), components: (padded[0], padded[1], padded[2], padded[3]),
      first: coefficients.lowerBound, last: coefficients.upperBound, high: high, low: low)
  }
}

/// What libjpeg makes of a file in one piece: 8-bit RGBA, inks as the formula has them.
struct JPEGReferencePicture {
  var width = 0, height = 0
  var pixels: [UInt8] = []

  init(_ file: [UInt8], _ scale: JPEGScale = .full) throws {
    let isInverted = try JPEGHeader(BytesSource(file)).adobeTransform != nil
    var width: UInt32 = 0, height: UInt32 = 0, channels: UInt32 = 0
    let samples = jref_decode(file, file.count, UInt32(scale.eighths), &width, &height, &channels)!
    defer { free(samples) }
    (self.width, self.height) = (Int(width), Int(height))
    pixels = Array(repeating: 255, count: 4 * self.width * self.height)
    let step = Int(channels)
    for pixel in 0..<self.width * self.height {
      for channel in 0..<3 {
        let sample = samples[pixel * step + (step == 1 ? 0 : channel)]
        pixels[4 * pixel + channel] =
          step < 4 ? sample : Self.light(sample, samples[pixel * step + 3], isInverted: isInverted)
      }
    }
  }

  /// What goes through an ink and black: the product of what each lets through.
  private static func light(_ ink: UInt8, _ black: UInt8, isInverted: Bool) -> UInt8 {
    let through = [ink, black].map { Double(isInverted ? $0 : 255 - $0) }
    return UInt8((through[0] * through[1] / 255).rounded())
  }
}

/// All rows of a picture, one after the other.
func readRows(_ rows: any PictureRows) throws -> [UInt8] {
  var pixels: [UInt8] = []
  while let row = try rows.nextRow() { pixels += row }
  return pixels
}

/// All pixels of a JPEG file.
func readJPEG(
  _ file: [UInt8], _ scale: JPEGScale = .full, damage: DamagePolicy = .refuse, pieceByteCount: Int = 1_000
) throws -> [UInt8] {
  let source = BytesSource(file, name: "picture.jpg", pieceByteCount: pieceByteCount)
  return try readRows(JPEGRows(source, header: JPEGHeader(source), scale: scale, damage: damage))
}

/// The largest difference between two samples; nil if there are not as many.
func largestDifference(_ one: [UInt8], _ other: [UInt8]) -> Int? {
  guard one.count == other.count else { return nil }
  if one == other { return 0 }
  return zip(one, other).map { abs(Int($0) - Int($1)) }.max()
}
