/// What rendering a document would take, told from headers alone.
public struct RenderForecast: Sendable, Hashable {
  /// The canvas's width in pixels.
  public var width: Int
  /// The canvas's height in pixels.
  public var height: Int
  /// How many layers the document has, visible or not.
  public var layerCount: Int
  /// How many layers would be in the picture.
  public var drawnLayerCount: Int
  /// How many would be left out because nothing of them can be seen.
  public var skippedLayerCount: Int
  /// How many layers and groups name each compositing operator, visible or not.
  public var operators: [String: Int]
  /// The bytes of the layers in the picture as 8-bit RGBA, whole.
  public var rgbaByteCount: Int
  /// The most bytes that a pool with nothing else in it will count at once.
  ///
  /// Less is counted only where the system has fewer threads to give than were asked for.
  public var peakByteCount: Int
  /// In how many bands the canvas would be composed; with more than one, each layer is decoded once for each.
  public var bandCount: Int
  /// How many layers would be inflated by the faster library, which keeps more memory.
  public var fastDecoderCount: Int
  /// The least budget that the document can be rendered with, in bytes.
  public var leastBudget: Int
}

extension OpenRasterFile {
  /// Tells what rendering would take with a budget in bytes.
  ///
  /// Reads the headers of visible pictures. Operators that rendering refuses are taken for source-over.
  ///
  /// - Throws: `CardError.budgetTooSmall` with the least budget, other `CardError`s and `PictureError` as rendering does
  ///   for what headers show.
  public func forecast(budget: Int, options: RenderOptions = RenderOptions()) throws -> RenderForecast {
    let work = try RenderWork(self, allowsAnyOperator: true)
    let demand = work.demand(threads: options.threads)
    let memory = try work.memoryPlan(demand, budget: budget)
    var operators: [String: Int] = [:]
    var layerCount = 0
    // The root stack has no operator of its own.
    for item in document.items.dropFirst() {
      switch item {
      case .layer(let layer):
        operators[layer.blend.compositeOperator, default: 0] += 1
        layerCount += 1
      case .stackStart(let stack): operators[stack.blend.compositeOperator, default: 0] += 1
      case .stackEnd: break
      }
    }
    return RenderForecast(
      width: work.plan.width, height: work.plan.height, layerCount: layerCount,
      drawnLayerCount: work.plan.layers.count, skippedLayerCount: work.plan.skippedCount, operators: operators,
      rgbaByteCount: work.pictures.reduce(0) { $0 + $1.header.rgbaByteCount }, peakByteCount: memory.peak,
      bandCount: memory.bandCount(height: work.plan.height), fastDecoderCount: memory.isFast.count { $0 },
      leastBudget: MemoryPlan.leastBudget(demand))
  }
}
