public import MemChunks

extension BufferChunk {
  /// Makes a chunk of the pixels of a PNG file.
  ///
  /// Reads the header now and no pixel; each generation opens the file again and decodes it, as
  /// `PNGReader.decode(into:alpha:)` does. The size is 4 bytes a pixel, whatever the file's own format; while it is
  /// generated, the decoder's memory counts too.
  ///
  /// - Throws: `PictureError`.
  public static func png(
    _ path: BytePath, in pool: ChunkPool, label: String? = nil, alpha: AlphaForm = .premultiplied,
    limits: PNGLimits = PNGLimits()
  ) throws -> BufferChunk {
    let header = try PNGReader(FileSource(path), limits: limits).header
    return png(header, in: pool, label: label ?? path.description, alpha: alpha, limits: limits) { decode in
      try decode(FileSource(path))
    }
  }

  /// Makes a chunk of the pixels of a PNG picture that lies anywhere, for example in an archive.
  ///
  /// `open` makes a source at the picture's first byte, calls its argument with it once, and may clean up after that.
  /// It runs on whichever thread generates. A picture whose header is no longer `header` fails to generate with
  /// `PictureError.changed`.
  public static func png(
    _ header: PNGHeader, in pool: ChunkPool, label: String, alpha: AlphaForm = .premultiplied,
    limits: PNGLimits = PNGLimits(),
    open: @escaping @Sendable (_ decode: (any PictureSource) throws -> Void) throws -> Void
  ) -> BufferChunk {
    BufferChunk(
      in: pool, label: label, size: header.rgbaByteCount, workingPeak: header.rgbaByteCount + header.decoderByteCount
    ) { pixels in
      try pixels.withUnsafeMutableBytes { buffer in
        try open { source in
          let reader = try PNGReader(source, limits: limits)
          guard reader.header == header else { throw PictureError.changed(file: source.name) }
          var pixels = buffer.mutableBytes
          try reader.decode(into: &pixels, alpha: alpha)
        }
      }
    }
  }
}
