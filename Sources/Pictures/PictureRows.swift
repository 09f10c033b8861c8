/// A picture that is decoded row by row, from the top down: 8-bit RGBA with straight alpha, rows without gaps.
///
/// Belongs to one thread at a time.
public protocol PictureRows: AnyObject {
  /// Pixels in a row.
  var width: Int { get }
  /// Rows in the picture.
  var height: Int { get }
  /// What was wrong with the file, where it was passed over; nil as long as nothing was.
  var warning: PictureError? { get }
  /// Whether damage has ended the picture: all rows from here on are transparent, and need not be asked for.
  ///
  /// A few bytes can claim billions of pixels; whoever would do something for each of them looks here first.
  var restIsMissing: Bool { get }

  /// Decodes the next row, nil after the last one; it is valid until the next call.
  ///
  /// - Throws: `PictureError` naming file, place and reason, and whatever the source throws.
  func nextRow() throws -> UnsafeRawBufferPointer?
}

extension PictureRows {
  /// False: the rows of most kinds go on to the end.
  public var restIsMissing: Bool { false }
}
