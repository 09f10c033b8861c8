extension PictureOrientation {
  /// Puts a stored row where it belongs in some rows of the upright picture.
  ///
  /// - Parameters:
  ///   - row: A stored row of `width` pixels of 4 bytes.
  ///   - index: Which one it is, of `height`.
  ///   - rows: The rows of the upright picture that `target` has room for.
  func place(
    _ row: UnsafeRawBufferPointer, _ index: Int, width: Int, height: Int, rows: Range<Int>,
    in target: UnsafeMutableRawBufferPointer
  ) {
    let across = reversesRows ? height - 1 - index : index
    guard exchangesSides else {
      guard rows.contains(across) else { return }
      let place = UnsafeMutableRawBufferPointer(rebasing: target[(4 * width * (across - rows.lowerBound))...])
      if reversesColumns { Self.mirror(row, into: place) } else { place.copyMemory(from: row) }
      return
    }
    // The row becomes the column `across`.
    for line in rows {
      let column = reversesColumns ? width - 1 - line : line
      let pixel = row.loadUnaligned(fromByteOffset: 4 * column, as: UInt32.self)
      target.storeBytes(of: pixel, toByteOffset: 4 * (height * (line - rows.lowerBound) + across), as: UInt32.self)
    }
  }

  /// Copies a row from right to left.
  static func mirror(_ row: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer) {
    let count = row.count / 4
    for column in 0..<count {
      let pixel = row.loadUnaligned(fromByteOffset: 4 * column, as: UInt32.self)
      target.storeBytes(of: pixel, toByteOffset: 4 * (count - 1 - column), as: UInt32.self)
    }
  }

  /// The stored rows that some rows of the upright picture are made of.
  func storedRows(for rows: Range<Int>, height: Int) -> Range<Int> {
    if exchangesSides { return 0..<height }
    return reversesRows ? height - rows.upperBound..<height - rows.lowerBound : rows
  }
}
