internal import MemChunks

/// Gives the rows of a composed document, top to bottom, while all pixels stay within a pool's budget.
///
/// The canvas is composed in bands, as tall as the budget allows beside the layers: mostly a single one. Every layer
/// that a band meets is generated once for it, and once in all where the layers fit beside it.
struct CardComposer {
  private let plan: CompositionPlan
  private let pixels: [BufferChunk]
  private let pool: ChunkPool
  private let bandHeight: Int
  private var band: (painter: BandPainter, chunk: BufferChunk)?
  private var nextRow = 0

  /// How many bands the canvas is composed in.
  var bandCount: Int { (plan.height + bandHeight - 1) / bandHeight }

  /// Prepares to compose.
  ///
  /// - Parameter pixels: The pixels of the drawn layers, by their index: 8-bit RGBA with straight alpha.
  /// - Throws: `ChunkError.tooLarge` when the largest layer alone exceeds the budget, and `CardError.budgetTooSmall`
  ///   when it leaves no room for a row of the canvas.
  init(_ plan: CompositionPlan, pixels: [BufferChunk], file: String, in pool: ChunkPool) throws {
    self.plan = plan
    self.pixels = pixels
    self.pool = pool
    bandHeight = try Self.bandHeight(plan, pixels: pixels, file: file, budget: pool.budget.bytes)
  }

  /// Composes the next row into `row`, 8-bit RGBA with straight alpha; false after the last one.
  ///
  /// - Throws: What generating the layers throws.
  mutating func nextRow(into row: inout [UInt8]) throws -> Bool {
    guard nextRow < plan.height else { return false }
    let band = currentBand()
    try band.chunk.withBytes { band.painter.resolve(row: nextRow, of: $0, into: &row) }
    nextRow += 1
    return true
  }

  /// The band that has the next row; the one before it is dropped first, and with it its memory.
  private mutating func currentBand() -> (painter: BandPainter, chunk: BufferChunk) {
    if let band, band.painter.rows.contains(nextRow) { return band }
    band = nil
    let rows = nextRow..<min(nextRow + bandHeight, plan.height)
    let painter = BandPainter(plan: plan, pixels: pixels, rows: rows)
    let chunk = BufferChunk(in: pool, label: "canvas rows \(rows)", size: painter.byteCount) { bytes in
      try painter.paint(into: &bytes)
    }
    band = (painter, chunk)
    return (painter, chunk)
  }
}

extension CardComposer {
  /// The most rows that fit beside all layers, or else beside the one that needs most.
  private static func bandHeight(
    _ plan: CompositionPlan, pixels: [BufferChunk], file: String, budget: Int
  ) throws -> Int {
    let chunks = Dictionary(pixels.map { (ObjectIdentifier($0), $0) }, uniquingKeysWith: { first, _ in first }).values
    let kept = chunks.reduce(0) { $0 + wholePages($1.size) }
    let scratch = chunks.reduce(0) { max($0, $1.workingPeak - $1.size) }
    let dearest = chunks.max { $0.workingPeak < $1.workingPeak }
    let peak = dearest.map { wholePages($0.workingPeak) } ?? 0
    let rowByteCount = SourceOver.pixelByteCount * plan.width * plan.planeCount
    for taken in [kept + scratch, peak] {
      // The band is rounded to whole pages too.
      let rows = (budget - taken - wholePages(1)) / rowByteCount
      if rows > 0 { return min(rows, plan.height) }
    }
    if let dearest, dearest.workingPeak > budget {
      // Says so in the pool's own words, with the numbers.
      try dearest.ensureReady()
    }
    throw CardError.budgetTooSmall(file: file, needed: peak + wholePages(1) + rowByteCount, budget: budget)
  }
}
