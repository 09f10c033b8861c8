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
    // Layers may share a picture.
    var bySource: [String: LayerPicture] = [:]
    plan = try CompositionPlan(file.document, file: file.name, allowsAnyOperator: allowsAnyOperator) { layer in
      let picture = try bySource[layer.source] ?? file.picture(of: layer)
      bySource[layer.source] = picture
      return (picture.header.width, picture.header.height)
    }
    segments = plan.segments()
    // The plan has asked for the size, and so for the picture, of every layer that it draws.
    pictures = plan.layers.map { bySource[$0.source]! }
    self.file = file.name
  }

  /// What it needs with so many threads at most.
  func demand(threads: Int) -> MemoryPlan.Demand {
    let layers = zip(pictures, plan.placed).map { picture, placed in
      MemoryPlan.Demand.Layer(rows: placed.rows, small: picture.byteCount(.small), fast: picture.byteCount(.fast))
    }
    let decoder = pictures.reduce(0) { max($0, $1.decoderByteCount) }
    return MemoryPlan.Demand(
      layers: layers, segments: segments, plan: plan, scratch: scratchByteCount, fixed: decoder, threads: threads)
  }

  /// What one thread needs to read rows.
  var scratchByteCount: Int { pictures.reduce(0) { max($0, $1.scratchByteCount) } }

  /// Plans for a budget.
  ///
  /// - Throws: `CardError.budgetTooSmall`.
  func memoryPlan(_ demand: MemoryPlan.Demand, budget: Int) throws(CardError) -> MemoryPlan {
    try MemoryPlan(demand, budget: budget, file: file)
  }
}

extension MemoryPlan {
  /// Plans for a budget.
  ///
  /// - Throws: `CardError.budgetTooSmall`, which names the file.
  init(_ demand: Demand, budget: Int, file: String) throws(CardError) {
    do throws(TooSmall) {
      try self.init(demand, budget: budget)
    } catch {
      throw .budgetTooSmall(file: file, needed: error.needed, budget: budget)
    }
  }
}
