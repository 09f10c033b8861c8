internal import CSpng

extension PNGReader {
  /// What libspng reads from: a source, and the error that it threw, which cannot pass through C.
  final class Input {
    private let source: any PictureSource
    private var failure: (any Error)?
    private var isEmpty = true
    /// Whether more was asked for than the source had.
    private(set) var hasEnded = false

    /// Whether the file is filled up with zeros once: libspng asks for 8 KB at a time, and takes nothing of less.
    private var fillsUp: Bool

    init(_ source: any PictureSource, _ damage: DamagePolicy) {
      self.source = source
      fillsUp = damage == .showWhatThereIs
    }

    /// Has the decoder read from here; this object must outlive it.
    func attach(to context: OpaquePointer) {
      let user = Unmanaged.passUnretained(self).toOpaque()
      spng_set_png_stream(
        context,
        { _, user, destination, length in
          guard let user else { return Int32(SPNG_IO_ERROR.rawValue) }
          let input = Unmanaged<Input>.fromOpaque(user).takeUnretainedValue()
          return input.fill(UnsafeMutableRawBufferPointer(start: destination, count: length))
        },
        user)
    }

    /// Fills all of `buffer`, as libspng expects, however little the source gives at a time.
    private func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int32 {
      var filled = 0
      do {
        while filled < buffer.count {
          let count = try source.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
          if count == 0 {
            hasEnded = true
            if fillsUp, filled > 0 {
              fillsUp = false
              UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]).initializeMemory(as: UInt8.self, repeating: 0)
              return 0
            }
            return Int32(SPNG_IO_EOF.rawValue)
          }
          isEmpty = false
          filled += count
        }
        return 0
      } catch {
        failure = error
        return Int32(SPNG_IO_ERROR.rawValue)
      }
    }

    /// Turns what libspng returned into the error that says most.
    func check(_ status: Int32, place: String) throws {
      if status == 0 { return }
      if let failure { throw failure }
      switch status {
      case Int32(SPNG_IO_EOF.rawValue) where isEmpty:
        throw PictureError.empty(file: source.name)
      case Int32(SPNG_IO_EOF.rawValue):
        throw PictureError.truncated(file: source.name, place: place)
      case Int32(SPNG_ESIGNATURE.rawValue):
        throw PictureError.notPNG(file: source.name)
      case _ where hasEnded:
        throw PictureError.truncated(file: source.name, place: place)
      default:
        throw PictureError.damaged(file: source.name, place: place, reason: String(cString: spng_strerror(status)))
      }
    }
  }
}
