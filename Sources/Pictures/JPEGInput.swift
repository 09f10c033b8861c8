internal import CJPEGRows

/// A source as C code reads it: an error cannot pass through that, and is kept here meanwhile.
final class JPEGInput {
  let source: any PositionedSource
  /// What the source threw last.
  private(set) var failure: (any Error)?

  init(_ source: any PositionedSource) { self.source = source }

  /// What C code is to be given; this object must outlive its use.
  var user: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

  /// The function that C code calls with that.
  static let read: cjr_read = { user, offset, buffer, count in
    // Whoever handed out the pointer keeps the object, see `user`.
    let input = Unmanaged<JPEGInput>.fromOpaque(user!).takeUnretainedValue()
    do {
      return try input.source.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: count), at: Int(offset))
    } catch {
      input.failure = error
      return -1
    }
  }
}
