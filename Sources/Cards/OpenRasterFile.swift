public import MemChunks
public import Pictures

/// An OpenRaster document that is open for reading.
///
/// Follows the OpenRaster file layout specification, 0.0.6: a zip archive with `mimetype`, `stack.xml` and the pictures
/// that layers name. Opening reads the description and no picture. May be used from any number of threads at once; the file is
/// kept open, by one descriptor, as long as this object is there.
public final class OpenRasterFile: Sendable {
  /// What the file describes.
  public let document: CardDocument
  /// The path as text, as errors give it.
  public var name: String { archive.name }
  let archive: OpenRasterArchive

  /// Opens the file at `path` and reads its description.
  ///
  /// - Throws: `CardError` naming file, place and reason.
  public init(_ path: BytePath) throws {
    archive = try OpenRasterArchive(path)
    try Self.checkMediaType(archive)
    document = try Self.readStack(archive)
  }

  /// Looks for the mark of the format.
  ///
  /// The specification wants it first and stored; some writers do neither, and nothing depends on it.
  private static func checkMediaType(_ archive: OpenRasterArchive) throws {
    guard archive.contains("mimetype") else {
      throw CardError.notOpenRaster(file: archive.name, reason: "there is no mimetype entry in it")
    }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = try archive.withEntry("mimetype") { source in
      try bytes.withUnsafeMutableBytes { try source.read(into: $0) }
    }
    let type = String(decoding: bytes[..<count], as: UTF8.self)
    guard type == "image/openraster" || type == "image/openraster\n" else {
      throw CardError.notOpenRaster(file: archive.name, reason: "its mimetype is \(type)")
    }
  }

  private static func readStack(_ archive: OpenRasterArchive) throws -> CardDocument {
    let parser = StackParser(file: archive.name)
    // The parser looks at a long attribute anew with each piece, so there must not be many.
    var piece = [UInt8](repeating: 0, count: 131_072)
    return try archive.withEntry("stack.xml") { source in
      while true {
        let count = try piece.withUnsafeMutableBytes { try source.read(into: $0) }
        if count == 0 { return try parser.finish() }
        try piece.withUnsafeBytes { try parser.parse(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
      }
    }
  }

  /// Reads the header of a layer's picture, and no pixel.
  ///
  /// - Throws: `CardError` when the picture is missing or its name points elsewhere, `PictureError` when it is no PNG.
  public func header(of layer: CardLayer) throws -> PNGHeader {
    try picture(of: layer).header
  }

  /// Makes a chunk of a layer's pixels, 8-bit RGBA with straight alpha, decoded at each generation.
  ///
  /// - Throws: As `header(of:)`.
  public func pixels(of layer: CardLayer, header: PNGHeader, in pool: ChunkPool) throws -> BufferChunk {
    let place = try EntryPlace(try entry(of: layer), of: archive)
    let label = layer.name.isEmpty ? place.name : "\(place.name), layer \(layer.name)"
    return .png(header, in: pool, label: label, alpha: .straight) { decode in
      try place.file.checkUnchanged()
      try decode(place.open())
    }
  }

  /// Finds a layer's picture and reads its header.
  func picture(of layer: CardLayer) throws -> LayerPicture {
    try LayerPicture(EntryPlace(try entry(of: layer), of: archive))
  }

  /// The entry that a layer names.
  ///
  /// Sources are looked up in the archive only, so that none can reach a file outside. A leading slash is accepted
  /// where an entry is really called so, because some writers name entries that way.
  private func entry(of layer: CardLayer) throws -> String {
    let source = layer.source
    let climbs = source.split(separator: "/").contains("..")
    let isElsewhere = source.hasPrefix("/") || source.contains("\\") || source.contains("://")
    guard !climbs, !isElsewhere || archive.contains(source) else {
      throw CardError.sourceLeavesFile(file: name, layer: layer.name, source: source)
    }
    return source
  }
}
