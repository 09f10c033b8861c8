internal import MemChunks
internal import Pictures

/// All that is known of a rendering before any pixel is decoded.
struct RenderWork: Sendable {
  let plan: CompositionPlan
  let segments: [Segment]
  /// The pictures of the drawn layers, by their index.
  let pictures: [LayerPicture]
  private let file: String

  /// Plans a document, and reads the header of every picture that is visible.
  init(_ file: OpenRasterFile, allowsAnyOperator: Bool = false) throws {
    try self.init(file.document, file: file.name, allowsAnyOperator: allowsAnyOperator) { try file.picture(of: $0) }
  }

  /// Plans a document whose pictures `picture` finds: those that are visible, each source once.
  init(
    _ document: CardDocument, file: String, allowsAnyOperator: Bool = false,
    picture: (CardLayer) throws -> LayerPicture
  ) throws {
    // Layers may share a picture.
    var bySource: [String: LayerPicture] = [:]
    plan = try CompositionPlan(document, file: file, allowsAnyOperator: allowsAnyOperator) { layer in
      let found = try bySource[layer.source] ?? picture(layer)
      bySource[layer.source] = found
      return (found.header.width, found.header.height)
    }
    segments = plan.segments()
    // The plan has asked for the size, and so for the picture, of every layer that it draws.
    pictures = plan.layers.map { bySource[$0.source]! }
    self.file = file
  }

  /// What it needs with so many threads at most.
  func demand(threads: Int) -> MemoryPlan.Demand {
    let layers = zip(pictures, plan.placed).map { picture, placed in
      MemoryPlan.Demand.Layer(rows: placed.rows, small: picture.byteCount(.small), fast: picture.byteCount(.fast))
    }
    return MemoryPlan.Demand(
      layers: layers, segments: segments, plan: plan, scratch: scratchByteCount, threads: threads)
  }

  /// What one thread needs to read rows.
  var scratchByteCount: Int { pictures.reduce(0) { max($0, $1.scratchByteCount) } }

  /// Plans for a budget.
  ///
  /// - Throws: `CardError.budgetTooSmall`.
  func memoryPlan(_ demand: MemoryPlan.Demand, budget: Int) throws(CardError) -> MemoryPlan {
    do throws(MemoryPlan.TooSmall) {
      return try MemoryPlan(demand, budget: budget)
    } catch {
      throw .budgetTooSmall(file: file, needed: error.needed, budget: budget)
    }
  }

  /// How many times as long the smaller inflater takes as the faster one, for the tallest layer's first rows.
  func slowdownOfSmallInflater() throws -> Double {
    guard let picture = pictures.max(by: { $0.header.height < $1.header.height }) else { return 1 }
    let scratch = PNGRowScratch(byteCount: picture.scratchByteCount)
    var least: [PNGRowReader.Inflater: UInt64] = [:]
    // In turn, because the machine has other things to do too.
    for inflater in [.fast, .small, .fast, .small, .fast, .small] as [PNGRowReader.Inflater] {
      let rows = try PNGRows(header: picture.header, format: picture.format, inflater: inflater, scratch: scratch) {
        try picture.place.openPositioned()
      }
      try timed({ least[inflater] = min($0, least[inflater] ?? .max) }) {
        try rows.skipRows(min(256, picture.header.height), scratch)
      }
    }
    return Double(least[.small]!) / Double(max(1, least[.fast]!))
  }

  /// What composes it, in memory of `pool`; notes how long that takes if there are `times`.
  func composition(_ memory: MemoryPlan, in pool: ChunkPool, _ times: RenderTimes? = nil) -> Composition {
    Composition(plan, segments, memory, scratch: scratchByteCount, in: pool, label: file) {
      [pictures] layer, inflater in
      LayerDecoder(pictures[layer], inflater, times?.layers[layer], in: pool)
    }
  }
}
