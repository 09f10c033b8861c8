/// How the blocks of a JPEG picture lie (ITU-T T.81, A.2), and how large libjpeg decodes them.
struct JPEGGeometry {
  /// Pixels a side of a block, and of a unit of blocks of all components.
  static let blockSide = 8
  /// The most samples, relative to others, of all components.
  let mostAcross, mostDown: Int
  /// Units of blocks across and down.
  let columns, rows: Int

  private let header: JPEGHeader

  init(_ header: JPEGHeader) {
    self.header = header
    mostAcross = header.components.map(\.across).max() ?? 1
    mostDown = header.components.map(\.down).max() ?? 1
    columns = Self.quotient(header.width, Self.blockSide * mostAcross)
    rows = Self.quotient(header.height, Self.blockSide * mostDown)
  }

  /// The blocks of a component that hold pixels.
  func blocks(_ component: JPEGHeader.Component) -> (width: Int, height: Int) {
    (
      Self.quotient(header.width * component.across, Self.blockSide * mostAcross),
      Self.quotient(header.height * component.down, Self.blockSide * mostDown)
    )
  }

  /// All blocks that hold pixels.
  var blockCount: Int {
    header.components.reduce(0) { sum, component in
      let (width, height) = blocks(component)
      return sum + width * height
    }
  }

  /// Samples a side that libjpeg makes of a block: where a component is sampled more coarsely than others, it decodes it
  /// larger instead of enlarging it afterwards.
  func samples(_ component: JPEGHeader.Component, _ scale: JPEGScale) -> Int {
    var size = scale.eighths
    while size < Self.blockSide, mostAcross * scale.eighths % (component.across * size * 2) == 0,
      mostDown * scale.eighths % (component.down * size * 2) == 0
    {
      size *= 2
    }
    return size
  }

  private static func quotient(_ dividend: Int, _ divisor: Int) -> Int { (dividend + divisor - 1) / divisor }
}
