/// The chunks of a WebP file, read front to back (WebP container specification; RIFF).
final class WebPChunks: ExifBytes {
  /// What errors call the file.
  var name: String { source.name }
  /// The name of the chunk, four letters.
  private(set) var kind = ""
  /// The bytes of it that have not been taken.
  private(set) var remaining = 0

  private let source: any PositionedSource
  private let window = UnsafeMutableRawBufferPointer.allocate(byteCount: 512, alignment: 16)
  /// Where in the file the next byte lies that is not taken.
  private var position = 0
  /// Where the chunk and what fills it up end.
  private var next = 12
  /// Where the file ends, by its own account.
  private(set) var end = 12
  private var chunkCount = 0

  /// Takes the mark of the format.
  init(_ source: any PositionedSource) throws {
    self.source = source
    let mark = try read(12)
    let isWebP = mark[0..<4].elementsEqual("RIFF".utf8) && mark[8..<12].elementsEqual("WEBP".utf8)
    guard isWebP else { throw PictureError.notWebP(file: name) }
    let byteCount = Int(UInt32(littleEndian: mark.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
    guard byteCount >= 12 else { throw damaged("the file says that it has \(byteCount) bytes") }
    end = 8 + byteCount
  }

  deinit {
    window.deallocate()
  }

  /// Begins the next chunk and passes over what is left of the one before; false at the end.
  func begin() throws -> Bool {
    position = next
    guard position + 8 <= end else { return false }
    chunkCount += 1
    guard chunkCount <= 1_000 else { throw damaged("there are more than a thousand chunks") }
    let header = try read(8)
    kind = String(decoding: header[0..<4], as: UTF8.self)
    remaining = Int(UInt32(littleEndian: header.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
    next = position + remaining + remaining % 2
    return true
  }

  /// Takes the next bytes of the chunk, at most 512.
  func takeData(_ count: Int) throws -> UnsafeRawBufferPointer {
    guard count <= remaining else { throw damaged("chunk \(kind) ends early") }
    remaining -= count
    return try read(count)
  }

  /// Passes over bytes of the chunk.
  func skipData(_ count: Int) throws {
    guard count <= remaining else { throw damaged("chunk \(kind) ends early") }
    remaining -= count
    position += count
  }

  /// Takes all that is left of the chunk.
  func takeRest() throws -> [UInt8] {
    var bytes: [UInt8] = []
    while remaining > 0 { bytes += try takeData(min(remaining, window.count)) }
    return bytes
  }

  private func read(_ count: Int) throws -> UnsafeRawBufferPointer {
    var filled = 0
    while filled < count {
      let free = UnsafeMutableRawBufferPointer(rebasing: window[filled..<count])
      let read = try source.read(into: free, at: position + filled)
      guard read > 0 else {
        throw position + filled == 0
          ? PictureError.empty(file: name) : PictureError.truncated(file: name, place: "the chunks")
      }
      filled += read
    }
    position += count
    return UnsafeRawBufferPointer(rebasing: window[..<count])
  }

  /// The error for a file that breaks the specification.
  func damaged(_ reason: String) -> PictureError { .damaged(file: name, place: "the chunks", reason: reason) }
}
