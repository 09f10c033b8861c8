extension StoredPicture {
  /// A JPEG file, decoded at a scale. Reads the header now and no pixel; each decoding opens the file again.
  ///
  /// - Throws: `PictureError`.
  public static func jpeg(
    _ path: BytePath, scale: JPEGScale = .full, damage: DamagePolicy = .refuse, limits: JPEGLimits = JPEGLimits()
  ) throws -> StoredPicture {
    let header = try JPEGHeader(FileSource(path), limits: limits)
    return jpeg(header, scale: scale, damage: damage) { try FileSource(path) }
  }

  /// A JPEG picture that lies anywhere, decoded at a scale.
  ///
  /// `open` makes a source at the picture's first byte, on whichever thread decodes.
  public static func jpeg(
    _ header: JPEGHeader, scale: JPEGScale = .full, damage: DamagePolicy = .refuse,
    open: @escaping @Sendable () throws -> any PositionedSource
  ) -> StoredPicture {
    StoredPicture(
      header.orientation, width: scale.scaled(header.width), height: scale.scaled(header.height),
      decoderByteCount: JPEGRows.byteCount(for: header, scale: scale)
    ) {
      try JPEGRows(open(), header: header, scale: scale, damage: damage)
    }
  }
}
