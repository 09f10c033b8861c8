public import MemChunks

/// A picture that can be decoded again and again, and how it has to be turned.
public struct StoredPicture: Sendable {
  /// How it has to be turned.
  public let orientation: PictureOrientation
  /// Its size as it is stored, in pixels.
  public let width, height: Int
  /// What decoding takes beside its pixels, in bytes.
  public let decoderByteCount: Int
  /// Begins to decode it; the rows are those stored, of `width` pixels, `height` of them.
  public let open: @Sendable () throws -> any PictureRows

  /// Makes a picture of a way to decode it. `open` runs on whichever thread decodes.
  public init(
    _ orientation: PictureOrientation, width: Int, height: Int, decoderByteCount: Int,
    open: @escaping @Sendable () throws -> any PictureRows
  ) {
    self.orientation = orientation
    (self.width, self.height) = (width, height)
    self.decoderByteCount = decoderByteCount
    self.open = open
  }

  /// Its size when it is upright.
  public var uprightSize: (width: Int, height: Int) { orientation.uprightSize(width: width, height: height) }

  /// Decodes what some rows of the upright picture are made of into `target`. Returns what was wrong with the file.
  ///
  /// Rows behind the last one that is needed are not read, and so not checked.
  func decode(_ rows: Range<Int>, into target: UnsafeMutableRawBufferPointer) throws -> PictureError? {
    let stored = try open()
    let needed = orientation.storedRows(for: rows, height: height)
    for index in 0..<needed.upperBound {
      guard let row = try stored.nextRow() else { preconditionFailure("row \(index) is not in the picture") }
      guard index >= needed.lowerBound else { continue }
      orientation.place(row, index, width: width, height: height, rows: rows, in: target)
    }
    return stored.warning
  }
}

extension BufferChunk {
  /// Makes a chunk of the pixels of a picture, upright: 8-bit RGBA with straight alpha, rows from the top without gaps.
  ///
  /// Nothing is decoded now; each generation decodes the file again, while which the decoder's memory counts too.
  public static func upright(_ picture: StoredPicture, in pool: ChunkPool, label: String) -> BufferChunk {
    rows(0..<picture.uprightSize.height, of: picture, in: pool, label: label) { _ in }
  }

  /// Makes a chunk of some rows of the upright picture, which says at each generation what was wrong with the file.
  static func rows(
    _ rows: Range<Int>, of picture: StoredPicture, in pool: ChunkPool, label: String,
    warn: @escaping @Sendable (PictureError?) -> Void
  ) -> BufferChunk {
    let size = 4 * picture.uprightSize.width * rows.count
    return BufferChunk(in: pool, label: label, size: size, workingPeak: size + picture.decoderByteCount) { pixels in
      try pixels.withUnsafeMutableBytes { warn(try picture.decode(rows, into: $0)) }
    }
  }
}
