// Darwin and Musl are not run here.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// How the pixels of another size are made of those that there are.
public enum ResamplingFilter: Sendable, Hashable, CaseIterable {
  /// The mean of what a pixel covers: right for large reductions, and takes the least time.
  case area
  /// A cubic that goes through the pixels (Catmull and Rom, 1974), over 2 pixels to each side: little ringing.
  case catmullRom
  /// A sinc in a window of 3 pixels to each side (Turkowski, 1990): the sharpest.
  case lanczos3

  /// The filter that suits a side of so many pixels becoming one of so many others: area from a third on down, where it
  /// cannot be told from the others; Lanczos-3 for smaller reductions; Catmull-Rom for enlarging, where ringing shows most.
  public static func suiting(from source: Int, to target: Int) -> ResamplingFilter {
    if source >= 3 * target { return .area }
    return source >= target ? .lanczos3 : .catmullRom
  }

  /// How far it reaches to each side, in pixels of the larger kind.
  var radius: Double {
    switch self {
    case .area: 0.5
    case .catmullRom: 2
    case .lanczos3: 3
    }
  }

  /// How much a pixel counts at this distance, in pixels of the larger kind; not for `area`, whose edges cut pixels.
  func weight(_ distance: Double) -> Double {
    let x = abs(distance)
    guard x < radius else { return 0 }
    switch self {
    case .area: return 1
    case .catmullRom:
      return x < 1 ? (1.5 * x - 2.5) * x * x + 1 : ((-0.5 * x + 2.5) * x - 4) * x + 2
    case .lanczos3:
      if x == 0 { return 1 }
      let angle = x * .pi
      return 3 * sin(angle) * sin(angle / 3) / (angle * angle)
    }
  }
}

/// What is added up where pixels are mixed.
public enum ResamplingLight: Sendable, Hashable {
  /// The numbers as they stand in the file, as browsers and most programs do.
  case gamma
  /// The light that they stand for by the curve of sRGB (IEC 61966-2-1): fine light patterns keep their brightness.
  case linear
}
