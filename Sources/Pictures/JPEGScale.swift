/// How much smaller than it is stored a JPEG picture is decoded: in eighths, which costs less than scaling afterwards.
public struct JPEGScale: Sendable, Hashable {
  /// Eighths of the stored size: 1 to 8.
  public let eighths: Int

  /// As it is stored.
  public static let full = JPEGScale(eighths: 8)

  /// Makes a scale.
  ///
  /// - Precondition: `eighths` is 1 to 8. Decoding at 1, 2, 4 and 8 is fastest.
  public init(eighths: Int) {
    precondition((1...8).contains(eighths), "a JPEG picture is decoded at 1 to 8 eighths of its size")
    self.eighths = eighths
  }

  /// The smallest of 1, 2, 4 and 8 eighths at which a picture has at least `width` x `height` pixels as it is stored; all
  /// of it, where it never has.
  public init(of header: JPEGHeader, atLeast width: Int, _ height: Int) {
    let fitting = [1, 2, 4].first {
      let scale = JPEGScale(eighths: $0)
      return scale.scaled(header.width) >= width && scale.scaled(header.height) >= height
    }
    self.init(eighths: fitting ?? 8)
  }

  /// A side of the picture when it is decoded so, rounded up.
  public func scaled(_ side: Int) -> Int { (side * eighths + 7) / 8 }
}
