/// How a stored picture has to be turned to be upright (EXIF 2.32, tag Orientation).
///
/// The raw value is the one in the file. A picture without the tag, or with a value that there is not, is upright.
public enum PictureOrientation: UInt8, Sendable, Hashable, CaseIterable {
  /// It is as it should be.
  case upright = 1
  /// Left and right are exchanged.
  case mirrored = 2
  /// It stands on its head.
  case halfTurned = 3
  /// Top and bottom are exchanged.
  case flipped = 4
  /// Rows and columns are exchanged.
  case transposed = 5
  /// It has to be turned by a quarter to the right.
  case needsQuarterRight = 6
  /// Rows and columns are exchanged, and it stands on its head.
  case transversed = 7
  /// It has to be turned by a quarter to the left.
  case needsQuarterLeft = 8

  /// Whether an upright row is a stored column.
  public var exchangesSides: Bool { rawValue >= 5 }

  /// Whether upright rows come in the order of stored ones, so that nothing need be kept.
  public var keepsRowOrder: Bool { rawValue <= 2 }

  /// The size of the upright picture.
  public func uprightSize(width: Int, height: Int) -> (width: Int, height: Int) {
    exchangesSides ? (height, width) : (width, height)
  }

  /// Whether the stored picture is walked through from right to left.
  var reversesColumns: Bool { [.mirrored, .halfTurned, .needsQuarterLeft, .transversed].contains(self) }

  /// Whether the stored picture is walked through from the bottom to the top.
  var reversesRows: Bool { [.halfTurned, .flipped, .needsQuarterRight, .transversed].contains(self) }
}
