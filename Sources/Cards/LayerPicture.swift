internal import MemChunks
internal import Pictures

// Darwin and Musl are not run here.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

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

  /// Whether it can be read row by row; if not, all pixels have to be in memory.
  var hasRows: Bool { PNGRows.canRead(header) }

  /// What its rows come as: nothing that the file has is lost.
  var format: PNGRowReader.Format { header.bitDepth == 16 ? .rgba16 : .rgba8 }

  /// The bytes that keeping a place between two rows takes; for a picture without rows, those of all its pixels.
  func byteCount(_ inflater: PNGRowReader.Inflater) -> Int {
    guard hasRows else { return wholePages(header.rgbaByteCount) }
    return PNGRows.byteCount(for: header, format: format, inflater: inflater) + place.positionedByteCount
      + Self.objectByteCount
  }

  /// The bytes that are needed beside the pixels while a picture without rows is decoded.
  var decoderByteCount: Int { hasRows ? 0 : header.decoderByteCount + place.sourceByteCount }

  /// The bytes that a thread needs while it reads rows.
  var scratchByteCount: Int { hasRows ? PNGRows.scratchByteCount(for: header, format: format) : 0 }

  /// What the chunk and its source take as objects, rounded up.
  private static let objectByteCount = 512
}

/// What a chunk of bytes counts: whole pages.
func wholePages(_ byteCount: Int) -> Int {
  let page = sysconf(Int32(_SC_PAGESIZE))
  return (byteCount + page - 1) / page * page
}
