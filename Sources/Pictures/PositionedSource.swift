/// Compressed bytes that can be read again from where one was.
///
/// Many readers share one window of compressed bytes: a reader that is put aside forgets what it has not used, and
/// reads it again later. A source is used by one thread at a time.
public protocol PositionedSource {
  /// What errors call this source: a file name, or a file name and the entry in it.
  var name: String { get }

  /// How many bytes there are, as far as that is known: what is read at a time depends on it, nothing else.
  var byteCount: Int? { get }

  /// Copies bytes from `offset` on into `buffer`, which is not empty, and returns how many there were.
  ///
  /// Fewer than asked for is allowed, zero means the end; `offset` may lie behind it. A reader of rows moves forward
  /// only, but for one thing: it may go back to any byte that its last read gave. Whatever is thrown reaches the caller
  /// of the reader as it is.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws -> Int
}

/// Gives a source that is read front to back positions, by keeping the last piece of it.
///
/// That is enough for readers of rows. What is passed over is read all the same.
public final class BufferedSource: PositionedSource {
  /// The bytes of the piece that it keeps. The source's own memory comes on top.
  public static let keptByteCount = 8 << 10

  private let source: any PictureSource
  private let piece: UnsafeMutableRawBufferPointer
  /// Which bytes of the source the piece holds.
  private var held = 0..<0

  /// Takes over `source` at its first byte; nobody else may read it from now on.
  ///
  /// - Parameter byteCount: How many bytes it has, if that is known.
  public init(_ source: any PictureSource, byteCount: Int? = nil) {
    self.source = source
    self.byteCount = byteCount
    piece = .allocate(byteCount: Self.keptByteCount, alignment: 16)
  }

  deinit {
    piece.deallocate()
  }

  /// What the source is called.
  public var name: String { source.name }

  /// What was said when this was made.
  public let byteCount: Int?

  /// Copies bytes of the piece, or of the next one.
  ///
  /// - Throws: `PictureError.cannotRead` where `offset` lies before the last piece, and what the source throws.
  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws -> Int {
    guard offset >= held.lowerBound else {
      throw PictureError.cannotRead(file: name, reason: "it cannot be read again from byte \(offset)")
    }
    while offset >= held.upperBound {
      let count = try source.read(into: piece)
      if count == 0 { return 0 }
      held = held.upperBound..<held.upperBound + min(count, piece.count)
    }
    let bytes = piece[offset - held.lowerBound..<held.count].prefix(buffer.count)
    buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes))
    return bytes.count
  }
}

/// Reads a source that has positions front to back.
public final class SequentialSource: PictureSource {
  private let source: any PositionedSource
  private var position = 0

  /// Begins at the first byte of `source`.
  public init(_ source: any PositionedSource) {
    self.source = source
  }

  /// What the source is called.
  public var name: String { source.name }

  /// Copies the bytes behind those that were read last.
  public func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    let count = try source.read(into: buffer, at: position)
    position += count
    return count
  }
}
