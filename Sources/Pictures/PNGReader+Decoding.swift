extension PNGReader {
  /// Decodes the whole picture into `pixels`: 8-bit RGBA, rows from the top without gaps.
  ///
  /// Every colour type, bit depth and kind of transparency comes out alike. 16-bit samples are rounded to the nearest
  /// 8-bit value, premultiplied colour to the nearest too. Takes time in proportion to the pixels, and the memory of
  /// one row beyond `pixels`. When it throws, what `pixels` holds is not a picture.
  ///
  /// - Precondition: Nothing has been decoded by this reader before.
  /// - Throws: `PictureError` naming file, place and reason, and whatever the source throws.
  public func decode(into pixels: inout MutableRawSpan, alpha: AlphaForm = .premultiplied) throws {
    guard pixels.byteCount == header.rgbaByteCount else {
      throw PictureError.wrongSize(file: name, expected: header.rgbaByteCount, given: pixels.byteCount)
    }
    let rowByteCount = 4 * header.width
    try pixels.withUnsafeMutableBytes { pixels in
      while let row = try nextRow() {
        let start = row.index * rowByteCount
        store(row, in: UnsafeMutableRawBufferPointer(rebasing: pixels[start..<start + rowByteCount]), alpha)
      }
    }
  }

  private func store(_ row: Row, in pixels: UnsafeMutableRawBufferPointer, _ alpha: AlphaForm) {
    if hasWideSamples {
      let samples = row.samples.assumingMemoryBound(to: UInt16.self)
      store(row.columns, in: pixels, alpha) { Sample.narrowed(samples[$0]) }
    } else if alpha == .straight, !header.isInterlaced {
      pixels.copyMemory(from: row.samples)
    } else {
      store(row.columns, in: pixels, alpha) { row.samples[$0] }
    }
  }

  /// Specialised for its reader of samples, so that the choice of width costs nothing per pixel.
  @inline(__always)
  private func store(
    _ columns: StrideTo<Int>, in pixels: UnsafeMutableRawBufferPointer, _ alpha: AlphaForm, sample: (Int) -> UInt8
  ) {
    for column in columns {
      let index = 4 * column
      let opacity = sample(index + 3)
      for channel in index..<index + 3 {
        let color = sample(channel)
        pixels[channel] = alpha == .premultiplied ? Sample.premultiplied(color, opacity) : color
      }
      pixels[index + 3] = opacity
    }
  }
}
