public import Pictures

// Darwin and Musl are not run here.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// How a document is rendered. No choice changes a pixel of the picture.
public struct RenderOptions: Sendable, Hashable {
  /// How many threads decode and blend, beside the calling one, which encodes. At least 1.
  ///
  /// Fewer are used where the budget or the document has not enough for more.
  public var threads: Int
  /// zlib's level for the picture that is written, from 0 (none) to 9 (slowest).
  public var compressionLevel: Int
  /// Whether what decoding takes is measured, for `OpenRasterFile.outlooks(_:options:)`. Costs reading a clock twice for each row
  /// of each layer.
  public var measuresDecoding = false

  /// Makes options; by default as many threads as there are processors, but 8 at most.
  ///
  /// - Precondition: `threads` is at least 1.
  public init(
    threads: Int = RenderOptions.defaultThreads, compressionLevel: Int = PNGWriter.defaultCompressionLevel
  ) {
    precondition(threads >= 1, "at least one thread has to work")
    self.threads = threads
    self.compressionLevel = compressionLevel
  }

  /// The number of processors, but at most 8: each thread takes memory, and one encodes for all.
  public static let defaultThreads = max(1, min(8, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
}
