internal import Pictures

/// How much of a processor's time decoding a document's layers took, measured while it was rendered.
public final class RenderTimes: @unchecked Sendable {
  /// By the layers' indices.
  let layers: [LayerTimes]
  /// Nanoseconds that making a byte of rows took.
  private(set) var workByte = 0.0

  init(_ work: RenderWork, _ memory: MemoryPlan) {
    layers = zip(work.pictures, memory.isFast).map { picture, isFast in
      LayerTimes(height: picture.header.height, isFast ? .fast : .small)
    }
  }

  /// Takes over what making the rows took, when all is done.
  func note(_ memory: WorkMemory) { workByte = Double(memory.nanoseconds) / Double(memory.size) }
}
