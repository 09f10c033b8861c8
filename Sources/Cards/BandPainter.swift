internal import MemChunks

/// Composes one band of the canvas: some of its rows, over its whole width.
///
/// The band is itself a chunk, generated from the chunks of the layers, so that the canvas counts like everything else
/// and at most one layer is in use at a time. Its memory is one plane per level of groups, one after the other; when
/// it is generated, the first plane holds the result.
struct BandPainter: Sendable {
  let plan: CompositionPlan
  /// The pixels of the drawn layers, by their index: 8-bit RGBA with straight alpha.
  let pixels: [BufferChunk]
  /// The canvas's rows that the band covers.
  let rows: Range<Int>

  /// The bytes of one plane of one row.
  private var rowByteCount: Int { SourceOver.pixelByteCount * plan.width }
  /// The bytes of one plane.
  private var planeByteCount: Int { rowByteCount * rows.count }
  /// The bytes of all planes.
  var byteCount: Int { planeByteCount * plan.planeCount }

  /// Composes the band into memory of `byteCount` bytes.
  func paint(into bytes: inout MutableRawSpan) throws {
    try bytes.withUnsafeMutableBytes { planes in
      var current = clearPlane(0, of: planes)
      var depth = 0
      for step in plan.steps {
        switch step {
        case .layer(let placed, let opacity):
          try lay(placed, SourceOver.opacity(opacity), over: current)
        case .beginGroup:
          depth += 1
          current = clearPlane(depth, of: planes)
        case .endGroup(let opacity):
          depth -= 1
          let below = plane(depth, of: planes)
          SourceOver.blend(
            plane: current, count: plan.width * rows.count, opacity: SourceOver.opacity(opacity), over: below)
          current = below
        }
      }
    }
  }

  /// Turns a row of a painted band into 8-bit RGBA with straight alpha.
  func resolve(row: Int, of bytes: RawSpan, into pixels: inout [UInt8]) {
    bytes.withUnsafeBytes { planes in
      pixels.withUnsafeMutableBufferPointer { pixels in
        guard let pixels = pixels.baseAddress, let plane = planes.baseAddress else { return }
        let start = plane + (row - rows.lowerBound) * rowByteCount
        SourceOver.resolve(start.assumingMemoryBound(to: UInt16.self), count: plan.width, into: pixels)
      }
    }
  }

  private func plane(_ depth: Int, of planes: UnsafeMutableRawBufferPointer) -> UnsafeMutablePointer<UInt16> {
    let bytes = UnsafeMutableRawBufferPointer(rebasing: planes[depth * planeByteCount..<(depth + 1) * planeByteCount])
    // A band is never empty, so a plane has a first value.
    return bytes.bindMemory(to: UInt16.self).baseAddress!
  }

  private func clearPlane(_ depth: Int, of planes: UnsafeMutableRawBufferPointer) -> UnsafeMutablePointer<UInt16> {
    let start = plane(depth, of: planes)
    start.update(repeating: 0, count: planeByteCount / 2)
    return start
  }

  private func lay(
    _ placed: CompositionPlan.PlacedLayer, _ opacity: UInt16, over plane: UnsafeMutablePointer<UInt16>
  ) throws {
    let common = placed.rows.clamped(to: rows)
    // A layer that this band does not reach is not generated for it.
    if common.isEmpty { return }
    try pixels[placed.index].withBytes { bytes in
      bytes.withUnsafeBytes { pixels in
        guard let pixels = pixels.assumingMemoryBound(to: UInt8.self).baseAddress else { return }
        for row in common {
          let column = placed.columns.lowerBound
          let source = (row - placed.y) * placed.width + column - placed.x
          let target = (row - rows.lowerBound) * plan.width + column
          SourceOver.blend(
            straight: pixels + 4 * source, count: placed.columns.count, opacity: opacity, over: plane + 4 * target)
        }
      }
    }
  }
}
