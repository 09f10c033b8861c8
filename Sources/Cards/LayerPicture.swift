internal import Pictures

/// The picture of a layer as it lies in the archive, before anything of it is decoded.
struct LayerPicture: Sendable {
  let place: EntryPlace
  let header: PNGHeader

  /// Reads the header of the picture in an entry.
  ///
  /// - Throws: `CardError`, and `PictureError` when it is no PNG.
  init(_ place: EntryPlace) throws {
    self.place = place
    header = try PNGHeader(place.openPositioned())
    // A few bytes can inflate to any number of them, and decoders pass over what they do not know.
    let most = 16 * header.height * min(8 * header.width + 1, Int.max / 32 / header.height) + (64 << 20)
    guard place.byteCount <= most else {
      throw CardError.cannotReadEntry(
        file: place.file.name, entry: place.entry,
        reason: "it has \(place.byteCount) bytes, many times more than its pixels can have")
    }
  }

  /// What its rows come as: nothing that the file has is lost.
  var format: PNGRowReader.Format { header.bitDepth == 16 ? .rgba16 : .rgba8 }

  /// The bytes that keeping a place between two rows takes.
  func byteCount(_ inflater: PNGRowReader.Inflater) -> Int {
    PNGRows.byteCount(for: header, format: format, inflater: inflater)
      + PNGRows.sourceCount(for: header) * place.positionedByteCount + Self.objectByteCount
  }

  /// The bytes that a thread needs while it reads rows.
  var scratchByteCount: Int { PNGRows.scratchByteCount(for: header, format: format) }

  /// What the chunk and its source take as objects, rounded up.
  private static let objectByteCount = 512
}
