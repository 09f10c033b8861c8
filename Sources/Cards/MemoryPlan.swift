/// How a composition uses its budget: how tall its blocks of rows are, how many threads work, and which decoders are fast.
///
/// Pure arithmetic over what a document needs, so that it can be told before anything is decoded. The picture does not
/// depend on it.
package struct MemoryPlan: Sendable, Equatable {
  /// What a document needs, in bytes.
  package struct Demand: Sendable {
    /// What keeping a layer's place between rows takes, from its first row on the canvas to its last.
    package struct Layer: Sendable {
      package let rows: Range<Int>
      /// With the smaller inflater, and with the faster one.
      package let small: Int
      package let fast: Int

      package init(rows: Range<Int>, small: Int, fast: Int) {
        self.rows = rows
        self.small = small
        self.fast = fast
      }
    }

    /// The layers of a segment, and the rows of the canvas that it changes.
    package struct Slice: Sendable {
      package let layers: Range<Int>
      package let rows: Range<Int>

      package init(layers: Range<Int>, rows: Range<Int>) {
        self.layers = layers
        self.rows = rows
      }
    }

    /// Rows of the canvas.
    package let height: Int
    /// The layers that are drawn, the lowest first.
    package let layers: [Layer]
    /// What each segment takes.
    package let slices: [Slice]
    /// One row of the canvas, all planes.
    package let row: Int
    /// What each thread works in.
    package let worker: Int
    /// What is needed once, whatever the plan.
    package let fixed: Int
    /// The most threads that may work.
    package let threads: Int

    package init(
      height: Int, layers: [Layer], slices: [Slice], row: Int, worker: Int, fixed: Int, threads: Int
    ) {
      self.height = height
      self.layers = layers
      self.slices = slices
      self.row = row
      self.worker = worker
      self.fixed = fixed
      self.threads = threads
    }
  }

  /// Not even one row and one segment fit.
  package struct TooSmall: Error {
    /// Bytes.
    package let needed: Int
  }

  /// Rows that are in memory at a time.
  package private(set) var blockHeight: Int
  /// Threads that decode and blend.
  package private(set) var workerCount: Int
  /// Whether decoders stay from block to block. If not, each layer is decoded again, from its top, for each block.
  package private(set) var keepsDecoders: Bool
  /// Which layers have the faster inflater.
  package private(set) var isFast: [Bool]
  /// The most bytes that will be counted at once.
  package private(set) var peak: Int
  /// The parts that are held together then, by their numbers in the order in which threads take them.
  package private(set) var peakParts: Range<Int>

  /// Blocks of a composition that keeps its decoders are this tall at most: taller ones save nothing.
  package static let tallestKeptBlock = 8

  /// Plans for a budget.
  package init(_ demand: Demand, budget: Int) throws(TooSmall) {
    if let kept = Self.keeping(demand, budget: budget) {
      self = kept
    } else if let banded = Self.banded(demand, budget: budget) {
      self = banded
    } else {
      throw TooSmall(needed: Self.leastBudget(demand))
    }
  }

  /// Bands are at least this tall: each costs every layer a decoding from its top, so that lower ones would take an age.
  package static let leastBandHeight = 16

  /// The least budget that a document can be composed with: one thread, and one row with all layers at it or one band with
  /// the layers of a segment.
  package static func leastBudget(_ demand: Demand) -> Int {
    let none = [Bool](repeating: false, count: demand.layers.count)
    let kept = demand.row + demand.mostAlive(1, none)
    let banded = demand.row * min(leastBandHeight, demand.height) + demand.dearestSlices(1) { demand.layers[$0].small }
    return demand.fixed + demand.worker + min(kept, banded)
  }

  /// The plan in which all layers advance together, if their decoders fit. As many as fit are fast, the layers with
  /// most rows first.
  private static func keeping(_ demand: Demand, budget: Int) -> MemoryPlan? {
    for workerCount in (1...demand.mostWorkers).reversed() {
      for height in [tallestKeptBlock, 4, 2, 1] {
        let blockHeight = min(height, demand.height)
        let base = demand.fixed + workerCount * demand.worker + blockHeight * demand.row
        // A block begins before the one above it is done, with layers of its own.
        func fits(_ isFast: [Bool]) -> Bool {
          base + demand.mostAlive(blockHeight, isFast) <= budget
        }
        let none = [Bool](repeating: false, count: demand.layers.count)
        guard fits(none) else { continue }
        let order = demand.layers.indices.sorted { demand.layers[$0].rows.count > demand.layers[$1].rows.count }
        func fast(_ count: Int) -> [Bool] {
          var isFast = none
          for index in order.prefix(count) { isFast[index] = true }
          return isFast
        }
        var (fitting, tooMany) = (0, demand.layers.count + 1)
        while tooMany - fitting > 1 {
          let middle = (fitting + tooMany) / 2
          if fits(fast(middle)) { fitting = middle } else { tooMany = middle }
        }
        return MemoryPlan(
          demand, blockHeight: blockHeight, workerCount: workerCount, keepsDecoders: true, isFast: fast(fitting))
      }
    }
    return nil
  }

  /// The plan in which decoders are there for the segments that are being worked on only, and blocks are as tall as fit.
  ///
  /// The work grows with the number of blocks, and is shared by the threads: their product with the height counts.
  private static func banded(_ demand: Demand, budget: Int) -> MemoryPlan? {
    var best: (blockHeight: Int, workerCount: Int, canBeFast: Bool)?
    for workerCount in 1...demand.mostWorkers {
      let base = demand.fixed + workerCount * demand.worker
      let small = demand.dearestSlices(workerCount) { demand.layers[$0].small }
      let most = (budget - base - small) / demand.row
      guard most >= min(leastBandHeight, demand.height) else { break }
      // Blocks of one height, rather than one that is left over.
      let blockCount = (demand.height + most - 1) / most
      let blockHeight = (demand.height + blockCount - 1) / blockCount
      if let best, best.blockHeight * best.workerCount > blockHeight * workerCount { continue }
      let fast = demand.dearestSlices(workerCount) { demand.layers[$0].fast }
      let canBeFast = base + blockHeight * demand.row + fast <= budget
      best = (blockHeight, workerCount, canBeFast)
    }
    return best.map { best in
      MemoryPlan(
        demand, blockHeight: best.blockHeight, workerCount: best.workerCount, keepsDecoders: false,
        isFast: Array(repeating: best.canBeFast, count: demand.layers.count))
    }
  }

  /// In how many parts the canvas is composed between which decoders do not stay.
  package func bandCount(height: Int) -> Int {
    keepsDecoders ? 1 : (height + blockHeight - 1) / blockHeight
  }

  private init(_ demand: Demand, blockHeight: Int, workerCount: Int, keepsDecoders: Bool, isFast: [Bool]) {
    self.blockHeight = blockHeight
    self.workerCount = workerCount
    self.keepsDecoders = keepsDecoders
    self.isFast = isFast
    let held = demand.mostHeld(blockHeight, workerCount: workerCount, isFast, keepsDecoders: keepsDecoders)
    peak = held.byteCount
    peakParts = held.parts
    peak += workByteCount(demand)
  }

  /// What is needed beside decoders.
  func workByteCount(_ demand: Demand) -> Int {
    demand.fixed + workerCount * demand.worker + blockHeight * demand.row
  }
}

extension MemoryPlan.Demand {
  /// Threads that can have something to do.
  fileprivate var mostWorkers: Int { max(1, min(threads, slices.count)) }

  /// The most bytes of decoders at any block of rows, if each stays for one block after its last one.
  fileprivate func mostAlive(_ blockHeight: Int, _ isFast: [Bool]) -> Int {
    let blockCount = (height + blockHeight - 1) / blockHeight
    // What is added at each block.
    var changes = [Int](repeating: 0, count: blockCount + 1)
    for (layer, isFast) in zip(layers, isFast) {
      let bytes = isFast ? layer.fast : layer.small
      let end = (layer.rows.upperBound - 1) / blockHeight + 2
      changes[layer.rows.lowerBound / blockHeight] += bytes
      changes[min(end, blockCount)] -= bytes
    }
    var (alive, most) = (0, 0)
    for change in changes {
      alive += change
      most = max(most, alive)
    }
    return most
  }

  /// The most bytes that so many segments take. Threads take them in turn, but one may be slow, and some have nothing to do
  /// in a block.
  fileprivate func dearestSlices(_ count: Int, _ bytes: (Int) -> Int) -> Int {
    let sums = slices.map { $0.layers.reduce(0) { $0 + bytes($1) } }
    return sums.sorted(by: >).prefix(count).reduce(0, +)
  }
}
