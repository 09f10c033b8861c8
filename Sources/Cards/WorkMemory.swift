internal import MemChunks

/// All that composing takes beside the layers: rows of the canvas, and what each thread works in.
///
/// A chunk like the rest, held as long as a composition lasts, so that the pool counts it.
final class WorkMemory: MemChunk, @unchecked Sendable {
  /// How the memory is divided; every part begins at a multiple of 64 bytes.
  struct Layout: Sendable {
    /// One row of one plane.
    let planeRow: Int
    /// One row of all planes.
    let row: Int
    /// A thread's own row, and what it reads pictures in.
    let partial: Int
    let scratch: Int
    /// A finished row as it is given out.
    let finished: Int

    init(_ plan: CompositionPlan, segments: [Segment], scratch: Int) {
      planeRow = Self.aligned(SourceOver.pixelByteCount * plan.width)
      row = planeRow * plan.planeCount
      // A single layer goes straight over its plane.
      let columns = segments.reduce(0) { max($0, $1.layers.count > 1 ? $1.columns.count : 0) }
      partial = Self.aligned(SourceOver.pixelByteCount * columns)
      self.scratch = Self.aligned(scratch)
      finished = Self.aligned(4 * plan.width)
    }

    private static func aligned(_ byteCount: Int) -> Int { (byteCount + 63) & ~63 }
  }

  let layout: Layout
  private let blockHeight: Int
  private let workerCount: Int
  /// What making it took of a processor's time.
  private(set) var nanoseconds: UInt64 = 0
  /// There while the chunk is held.
  private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)

  init(_ layout: Layout, _ memory: MemoryPlan, in pool: ChunkPool, label: String) {
    self.layout = layout
    blockHeight = memory.blockHeight
    workerCount = memory.workerCount
    super.init(in: pool, label: label)
  }

  override var size: Int {
    blockHeight * layout.row + workerCount * (layout.partial + layout.scratch) + layout.finished
  }

  /// Makes the memory; rows of the canvas are transparent.
  override func generate() {
    timed({ self.nanoseconds = $0 }) {
      memory = .allocate(byteCount: size, alignment: 64)
      memory.initializeMemory(as: UInt8.self, repeating: 0)
    }
  }

  override func free() {
    memory.deallocate()
  }

  /// A row of a plane; `row` counts in the whole canvas.
  func plane(_ plane: Int, row: Int) -> UnsafeMutablePointer<UInt16> {
    let start = row % blockHeight * layout.row + plane * layout.planeRow
    return part(start, layout.planeRow).bindMemory(to: UInt16.self).baseAddress!
  }

  /// A thread's own row; empty if no segment needs one.
  func partial(_ worker: Int) -> UnsafeMutableRawBufferPointer {
    part(blockHeight * layout.row + worker * layout.partial, layout.partial)
  }

  /// What a thread reads pictures in.
  func scratch(_ worker: Int) -> UnsafeMutableRawBufferPointer {
    part(blockHeight * layout.row + workerCount * layout.partial + worker * layout.scratch, layout.scratch)
  }

  /// Where a row is put that is finished.
  var finished: UnsafeMutableRawBufferPointer { part(size - layout.finished, layout.finished) }

  private func part(_ start: Int, _ count: Int) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + count])
  }
}

extension MemoryPlan.Demand {
  /// What a composition needs whose layers take that much, with so many bytes of scratch for each thread.
  init(
    layers: [Layer], segments: [Segment], plan: CompositionPlan, scratch: Int, threads: Int
  ) {
    let layout = WorkMemory.Layout(plan, segments: segments, scratch: scratch)
    self.init(
      height: plan.height, layers: layers,
      slices: segments.map { MemoryPlan.Demand.Slice(layers: $0.layerIndexes, rows: $0.rows) }, row: layout.row,
      worker: layout.partial + layout.scratch, fixed: layout.finished, threads: threads)
  }
}
