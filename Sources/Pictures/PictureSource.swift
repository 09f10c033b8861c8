/// Compressed bytes that are read once, front to back.
///
/// A decoder pulls what it needs, so that the whole compressed picture is never in memory. A source is used by one
/// thread at a time.
public protocol PictureSource: AnyObject {
  /// What errors call this source: a file name, or a file name and the entry in it.
  var name: String { get }

  /// Copies the next bytes into `buffer` and returns how many there were.
  ///
  /// Fewer than asked for is allowed, zero means the end. Whatever is thrown reaches the caller of the decoder as it is.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int
}

/// Where compressed bytes go, front to back.
///
/// A sink is used by one thread at a time.
public protocol PictureSink: AnyObject {
  /// What errors call this sink.
  var name: String { get }

  /// Takes all the bytes of `buffer`, which is valid during the call only.
  ///
  /// Whatever is thrown reaches the caller of the encoder as it is.
  func write(_ buffer: UnsafeRawBufferPointer) throws
}
