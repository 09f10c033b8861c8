internal import CPNGRows

/// The compressed pixels of a PNG file: a zlib stream cut into chunks anywhere (PNG specification, 10.1).
///
/// How far into the file the inflater has read differs from library to library. So what is wrong with the file counts
/// only where bytes are wanted that do not exist: all before is given out first, whichever library it is.
final class PNGPixelStream {
  private let chunks: PNGChunks
  private let inflater: cpr_inflater
  private let state: UnsafeMutableRawPointer

  /// Begins in the first chunk of pixels, with a state of the inflater's size that outlives this object.
  init(_ chunks: PNGChunks, inflater: cpr_inflater, state: UnsafeMutableRawPointer) throws {
    try Self.takeHeader(from: chunks)
    self.chunks = chunks
    self.inflater = inflater
    self.state = state
    guard cpr_inflate_begin(inflater, state) else { throw Self.noMemory(chunks.name) }
  }

  deinit {
    cpr_inflate_end(inflater, state)
  }

  /// Inflates the next `count` bytes.
  func read(_ count: Int, into target: UnsafeMutablePointer<UInt8>) throws {
    if try inflate(count, into: target) { throw chunks.damaged("there are fewer pixels than the header says") }
  }

  /// Reads the stream to its end, where all pixels have been inflated; what its chunks hold beyond is passed over.
  func finish() throws {
    var surplus: UInt8 = 0
    guard try inflate(1, into: &surplus) else { throw chunks.damaged("there are more pixels than the header says") }
    while try chunks.findPixels() { chunks.takeAtHand(chunks.atHand.count) }
  }

  /// Inflates `count` bytes, unless the stream ends before that: then true.
  private func inflate(_ count: Int, into target: UnsafeMutablePointer<UInt8>) throws -> Bool {
    var stream = cpr_stream(input: nil, input_count: 0, output: target, output_count: count)
    while true {
      let input = chunks.atHand
      stream.input = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
      stream.input_count = input.count
      let left = (input.count, stream.output_count)
      let result = cpr_inflate(inflater, state, &stream)
      // What is not used now may be forgotten, and is read again.
      chunks.takeAtHand(input.count - stream.input_count)
      switch result {
      case CPR_GOES_ON:
        if stream.output_count == 0 { return false }
        // The library may have kept pixels back, so more is read only now.
        if stream.input_count == 0 {
          guard try chunks.findPixels() else {
            throw chunks.damaged("the pixels end within a row or without a checksum")
          }
        } else if left == (stream.input_count, stream.output_count) {
          throw chunks.damaged("the compressed pixels lead nowhere")
        }
      case CPR_ENDED: return stream.output_count > 0
      case CPR_WRONG_CHECKSUM: throw chunks.damaged("wrong checksum of the pixels")
      case CPR_NO_MEMORY: throw Self.noMemory(chunks.name)
      default: throw chunks.damaged("the compressed pixels are not what deflate makes")
      }
    }
  }

  /// Checks the two bytes before the compressed ones (RFC 1950, 2.2), which may lie in two chunks.
  private static func takeHeader(from chunks: PNGChunks) throws {
    var header = 0
    for _ in 0..<2 {
      guard try chunks.findPixels() else { throw chunks.damaged("there are no pixels") }
      header = header << 8 | Int(chunks.atHand[0])
      chunks.takeAtHand(1)
    }
    let method = header >> 8 & 15
    let window = header >> 12
    let hasDictionary = header & 32 != 0
    guard header % 31 == 0, method == 8, window <= 7, !hasDictionary else {
      throw chunks.damaged("the pixels are not compressed as in a PNG file")
    }
  }

  private static func noMemory(_ file: String) -> PictureError {
    .cannotRead(file: file, reason: "no memory for a decoder")
  }
}
