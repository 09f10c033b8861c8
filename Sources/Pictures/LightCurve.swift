internal import CResampling

// Darwin and Musl are not run here.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The curve of sRGB as tables, there and back (IEC 61966-2-1).
struct LightCurve {
  /// The light of each of 256 steps, from 0 to 255.
  let light: [Float]
  /// The step for each amount of light; so many amounts that a step never comes back as another.
  let steps: [UInt8]

  static let byteCount = 256 * 4 + CRS_STEPS

  init() {
    light = (0..<256).map { Float(255 * Self.light(Double($0) / 255)) }
    let last = Double(CRS_STEPS - 1)
    steps = (0..<CRS_STEPS).map { UInt8((255 * Self.step(Double($0) / last)).rounded()) }
  }

  private static func light(_ step: Double) -> Double {
    step <= 0.04045 ? step / 12.92 : pow((step + 0.055) / 1.055, 2.4)
  }

  private static func step(_ light: Double) -> Double {
    light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055
  }
}
