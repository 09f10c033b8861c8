internal import CJPEGRows
public import MemChunks

/// A picture at the size that it is shown at, as two chunks: a compact form that takes few bytes and long to make, and the
/// pixels, which are made of it quickly.
///
/// Where hundreds of pictures are looked at in little memory, their pixels push each other out, and decoding the files
/// again takes most of the time. The compact forms are so small that many stay; a pool whose policy weighs costs keeps
/// them before pixels. For showing only: the compact form is JPEG, so pixels are not those of the file, and rendering does
/// not use it.
public final class PicturePreview: Sendable {
  /// Pixels in an upright row.
  public let width: Int
  /// Upright rows.
  public let height: Int
  /// A JPEG file of this size.
  public let compact: ValueChunk<[UInt8]>
  /// The pixels, 8-bit RGBA, made of the compact form.
  public let pixels: BufferChunk

  /// What the compact form takes at most: half a byte a pixel, and the tables. It is coded so that it does.
  public static func compactByteCount(width: Int, height: Int) -> Int { width * height / 2 + (2 << 10) }

  /// What libjpeg's encoder takes, measured with libjpeg-turbo 2.1.5, and some rows.
  private static func encoderByteCount(width: Int) -> Int { (128 << 10) + 64 * width }

  /// Prepares a preview of a picture at an upright size; decodes nothing yet.
  ///
  /// - Throws: `PictureError.unsupported` for a picture that can be transparent, which JPEG cannot be.
  public init(
    _ picture: Picture, width: Int, height: Int, in pool: ChunkPool, reading: PictureReading = PictureReading()
  ) throws(PictureError) {
    guard !picture.hasAlpha else {
      throw .unsupported(file: picture.name, kind: "a compact form of a transparent picture")
    }
    (self.width, self.height) = (width, height)
    let stored = picture.stored(width: width, height: height, reading: reading)
    let name = picture.name
    let pixelBytes = 4 * width * height
    let size = Self.compactByteCount(width: width, height: height)
    let making = pixelBytes + max(stored.decoderByteCount, Self.encoderByteCount(width: width))
    let compact = ValueChunk(in: pool, label: "\(name), compact", size: size, workingPeak: size + making) {
      try withUnsafeTemporaryAllocation(byteCount: pixelBytes, alignment: 16) { pixels in
        _ = try stored.decode(0..<height, into: pixels)
        return try Self.encode(UnsafeRawBufferPointer(pixels), width: width, height: height, most: size, of: name)
      }
    }
    self.compact = compact
    let decoding = Self.decoderByteCount(width: width, height: height)
    pixels = BufferChunk(in: pool, label: name, size: pixelBytes, workingPeak: pixelBytes + decoding) { target in
      try compact.withReady { file in
        try Self.decode(file, of: name, into: &target)
      }
    }
  }

  /// Encodes as well as fits.
  private static func encode(
    _ pixels: UnsafeRawBufferPointer, width: Int, height: Int, most: Int, of file: String
  ) throws -> [UInt8] {
    if let problem = cjr_library_problem() {
      throw PictureError.libraryMissing(file: file, library: "libjpeg", reason: String(cString: problem))
    }
    var row = [UInt8](repeating: 0, count: 3 * width)
    for quality in [88, 75, 50, 25, 5] as [Int32] {
      let bytes = [UInt8](unsafeUninitializedCapacity: most) { bytes, count in
        count = cjr_encode_picture(
          pixels.bindMemory(to: UInt8.self).baseAddress, UInt32(width), UInt32(height), quality, &row,
          bytes.baseAddress, most)
      }
      if !bytes.isEmpty { return bytes }
    }
    throw PictureError.cannotRead(file: file, reason: "no memory for an encoder")
  }

  private static func decoderByteCount(width: Int, height: Int) -> Int {
    // libjpeg's for three components sampled 2 x 2: the largest that it makes by default.
    let components = [(2, 2), (1, 1), (1, 1)].enumerated().map {
      JPEGHeader.Component(identifier: UInt8($0 + 1), across: $1.0, down: $1.1, quantization: 0)
    }
    return JPEGRows.byteCount(
      for: JPEGHeader(
        width: width, height: height, colors: .ycc, orientation: .upright, profileByteCount: 0, isProgressive: false,
        hasSeveralScans: false, adobeTransform: nil, components: components))
  }

  private static func decode(_ file: [UInt8], of name: String, into target: inout MutableRawSpan) throws {
    let source = MemorySource(file, name: name)
    let rows = try JPEGRows(source, header: JPEGHeader(source))
    try target.withUnsafeMutableBytes { target in
      var start = 0
      while let row = try rows.nextRow() {
        UnsafeMutableRawBufferPointer(rebasing: target[start...]).copyMemory(from: row)
        start += row.count
      }
    }
  }
}

/// Compressed bytes in memory.
final class MemorySource: PositionedSource {
  let name: String
  private let bytes: [UInt8]

  init(_ bytes: [UInt8], name: String) {
    (self.bytes, self.name) = (bytes, name)
  }

  var byteCount: Int? { bytes.count }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
    let piece = bytes.dropFirst(offset).prefix(buffer.count)
    buffer.copyBytes(from: piece)
    return piece.count
  }
}

extension PictureChunk {
  /// Makes a chunk of a smaller picture, 8-bit RGBA with straight alpha, out of the pixels of this one, which takes a
  /// fraction of decoding the file again; where they are not there they are made.
  ///
  /// For showing: what has been made smaller twice is not what has been made smaller once.
  ///
  /// - Precondition: Pixels are kept, `way` being `.pixels`.
  public func smaller(
    width: Int, height: Int, in pool: ChunkPool, filter: ResamplingFilter? = nil, light: ResamplingLight = .gamma
  ) -> BufferChunk {
    guard let pixels else { preconditionFailure("there are no pixels to make a smaller picture of") }
    let size = 4 * width * height
    let (wide, high) = (self.width, self.height)
    let making = ResampledRows.byteCount(from: (wide, high), to: (width, height), filter, light: light)
    return BufferChunk(in: pool, label: "smaller", size: size, workingPeak: size + making) { target in
      try pixels.withBytes { bytes in
        try bytes.withUnsafeBytes { bytes in
          let rows = ResampledRows(
            BorrowedRows(bytes, width: wide, height: high), width: width, height: height, filter: filter, light: light)
          try target.withUnsafeMutableBytes { target in
            var start = 0
            while let row = try rows.nextRow() {
              UnsafeMutableRawBufferPointer(rebasing: target[start...]).copyMemory(from: row)
              start += row.count
            }
          }
        }
      }
    }
  }
}

/// Rows of pixels that somebody else keeps as long as this is used.
private final class BorrowedRows: PictureRows {
  let width: Int
  let height: Int
  var warning: PictureError? { nil }
  private let pixels: UnsafeRawBufferPointer
  private var rowsRead = 0

  init(_ pixels: UnsafeRawBufferPointer, width: Int, height: Int) {
    (self.pixels, self.width, self.height) = (pixels, width, height)
  }

  func nextRow() -> UnsafeRawBufferPointer? {
    if rowsRead == height { return nil }
    defer { rowsRead += 1 }
    return UnsafeRawBufferPointer(rebasing: pixels[rowsRead * 4 * width..<(rowsRead + 1) * 4 * width])
  }
}
