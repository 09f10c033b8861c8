internal import CSpng

extension PNGWriter {
  /// What libspng writes to: a sink, and the error that it threw, which cannot pass through C.
  final class Output {
    private let sink: any PictureSink
    private var failure: (any Error)?

    init(_ sink: any PictureSink) {
      self.sink = sink
    }

    /// Has the encoder write here; this object must outlive it.
    func attach(to context: OpaquePointer) {
      let user = Unmanaged.passUnretained(self).toOpaque()
      spng_set_png_stream(
        context,
        { _, user, bytes, length in
          guard let user else { return Int32(SPNG_IO_ERROR.rawValue) }
          let output = Unmanaged<Output>.fromOpaque(user).takeUnretainedValue()
          return output.pass(on: UnsafeRawBufferPointer(start: bytes, count: length))
        },
        user)
    }

    private func pass(on bytes: UnsafeRawBufferPointer) -> Int32 {
      do {
        try sink.write(bytes)
        return 0
      } catch {
        failure = error
        return Int32(SPNG_IO_ERROR.rawValue)
      }
    }

    /// Turns what libspng returned into the error that says most.
    func check(_ status: Int32) throws {
      if status == 0 { return }
      throw failure ?? PictureError.cannotWrite(file: sink.name, reason: String(cString: spng_strerror(status)))
    }
  }
}
