import Pictures
import ToolSupport

/// Standard output as the place for a picture.
final class StandardOutput: PictureSink {
  let name = "standard output"

  /// Standard output took less than it was given.
  static var failure: PictureError {
    .cannotWrite(file: "standard output", reason: Console.lastReason)
  }

  func write(_ buffer: UnsafeRawBufferPointer) throws {
    guard Console.output(buffer) else { throw Self.failure }
  }
}
