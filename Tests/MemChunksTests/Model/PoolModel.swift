/// The pool as it should be: one thread, plain arrays, every question answered by looking at everything.
///
/// It knows nothing of the ledger: no heaps, no parking, no remembered refusals, no claims. What it takes
/// from the pool is only what the pool promises to its users.
struct PoolModel {
  /// A product, or an old one that somebody still uses.
  final class Product {
    var size: Int
    var users = 0
    /// Why it goes when it is unused, whatever the limits are.
    var departure: String?

    init(size: Int) { self.size = size }
  }

  /// What the next generation does, once.
  enum Next { case works, fails, isInvalidated, isDiscarded }

  final class Chunk {
    let name: String
    let group: Int
    /// How many products it can have at once.
    let lanes: Int
    /// What its bytes are counted in.
    let unit: Int
    var declared: Int
    var declaredPeak: Int?
    /// What it says when it has been generated, if that differs.
    var sizeAfter: Int?
    /// How many of its bytes `free()` hands back late.
    var late: Int?
    var next = Next.works
    var stamp = 0
    var product: Product?
    var retired: [Product] = []

    init(_ name: String, group: Int, lanes: Int, unit: Int, declared: Int) {
      (self.name, self.group, self.lanes, self.unit, self.declared) = (name, group, lanes, unit, declared)
    }

    /// What it counts.
    var size: Int { (declared + unit - 1) / unit * unit }
    /// What must be free before it is generated.
    var need: Int { size + max(0, (declaredPeak ?? declared) - declared) }
    /// What it says that it needs, now.
    var quoted: Int {
      guard let sizeAfter, product != nil || !retired.isEmpty else { return max(0, need) }
      return max(0, sizeAfter, declaredPeak ?? declared)
    }
    var isUsed: Bool { (product?.users ?? 0) > 0 || !retired.isEmpty }
  }

  struct Freed: Equatable {
    var name: String
    var size: Int
    var reason: String
  }

  /// The answer to a wish.
  enum Answer: Equatable {
    case ready
    case tooLarge(needed: Int, limit: Int, group: String?)
    case noRoom(needed: Int, free: Int, pinned: Int, framed: Int, freeing: Int)
    /// The product came out too large for the room there was.
    case noRoomAfter(needed: Int)
    case failed
    case invalidSize
  }

  var budget: Int
  var chosenKeepLimit: Int?
  let groupNames = ["", "left", "right"]
  var groupLimits: [Int?] = [nil, nil, nil]
  var chunks: [Chunk] = []
  var late: [(name: String, group: Int, bytes: Int)] = []
  /// Promised to generations, by group.
  var reserved = [0, 0, 0]
  var frames: [(id: Int, start: Int)] = []
  var previousFrameStart: Int?
  /// Discarded while they were generated; they go at the next visit.
  var lingering: [Chunk] = []
  /// Rises with every use.
  var clock = 0
  /// When the pool looked at the time, and how far the clock was then.
  var visits: [(time: UInt64, stamp: Int)] = []
  var time: UInt64 = 0
  var pressureLevel = 0
  var pressureShare = 1.0
  var lastRecovery: UInt64 = 0

  var freed: [Freed] = []
  /// Which of those went because a use or a frame ended, in no order.
  var departed: Set<String> = []
  var generations = 0
  var frees = 0
  var failures = 0
  var refusals = 0
  var hits = 0
  var misses = 0
  var bytesGenerated = 0
  /// The last answer is that of a failed generation, which is no refusal.
  var isAfterward = false

  init(budget: Int) { self.budget = budget }
}

// What is counted.
extension PoolModel {
  var products: [Product] { chunks.flatMap { $0.retired + ($0.product.map { [$0] } ?? []) } }
  var ready: Int { products.reduce(0) { $0 + $1.size } }
  var freeing: Int { late.reduce(0) { $0 + $1.bytes } }
  var pinned: Int { products.reduce(0) { $0 + ($1.users > 0 ? $1.size : 0) } }
  var room: Int { budget - ready - freeing - reserved.reduce(0, +) }
  var keepLimit: Int { min(chosenKeepLimit ?? budget, budget, Int(Double(budget) * pressureShare)) }
  var protectedSince: Int { frames.first?.start ?? .max }

  var framed: Int {
    chunks.reduce(0) { sum, chunk in
      guard let product = chunk.product, product.users == 0, chunk.stamp > protectedSince else { return sum }
      return sum + product.size
    }
  }

  func ready(in group: Int) -> Int {
    chunks.filter { $0.group == group }.flatMap { $0.retired + ($0.product.map { [$0] } ?? []) }
      .reduce(0) { $0 + $1.size }
  }

  func counted(in group: Int) -> Int {
    ready(in: group) + reserved[group] + late.reduce(0) { $0 + ($1.group == group ? $1.bytes : 0) }
  }

  /// Unused products that no frame protects, least recently used first.
  func line(usedUntil stamp: Int) -> [Chunk] {
    chunks.filter { $0.product != nil && $0.product!.users == 0 && $0.stamp <= stamp }.sorted { $0.stamp < $1.stamp }
  }

  mutating func tick() -> Int {
    clock += 1
    return clock
  }
}

// Frees.
extension PoolModel {
  /// Frees a product that is out of every count already.
  mutating func finishFree(_ chunk: Chunk, _ product: Product, _ reason: String) {
    frees += 1
    freed.append(Freed(name: chunk.name, size: product.size, reason: reason))
    if let bytes = chunk.late { late.append((chunk.name, chunk.group, min(bytes, product.size))) }
  }

  mutating func free(_ chunk: Chunk, _ reason: String) {
    let product = chunk.product!
    chunk.product = nil
    finishFree(chunk, product, reason)
  }

  /// The least recently used chunk whose freeing makes room.
  func victim(in group: Int? = nil) -> Chunk? {
    line(usedUntil: protectedSince).first { $0.product!.size > 0 && (group == nil || $0.group == group) }
  }

  /// Frees until at most `target` bytes are ready, and no limit is exceeded.
  mutating func freeSurplus(above target: Int, _ reason: String) {
    for (group, limit) in groupLimits.enumerated() {
      guard let limit else { continue }
      while ready(in: group) + reserved[group] > limit, let chunk = victim(in: group) { free(chunk, reason) }
    }
    while ready > target || ready + reserved.reduce(0, +) > budget, let chunk = victim() { free(chunk, reason) }
  }

  mutating func dropSurplus(for bytes: Int = 0) { freeSurplus(above: max(0, keepLimit - bytes), "limit") }

  /// It goes now, or when nobody uses it any more and no frame protects it.
  mutating func depart(_ chunk: Chunk, _ reason: String) {
    chunk.product!.departure = chunk.product!.departure ?? reason
    freeIfUnused(chunk, reason)
  }

  mutating func freeIfUnused(_ chunk: Chunk, _ reason: String) {
    if let product = chunk.product, product.users == 0, chunk.stamp <= protectedSince { free(chunk, reason) }
  }

  /// Frees a product that was to go when it was in use or protected, for the reason of then.
  mutating func departIfUnused(_ chunk: Chunk) {
    guard let departure = chunk.product?.departure else { return }
    departed.insert(chunk.name)
    freeIfUnused(chunk, departure)
  }

  /// Somebody lets go of a product.
  mutating func endUse(of chunk: Chunk, _ product: Product) {
    product.users -= 1
    guard product.users == 0 else { return }
    if let index = chunk.retired.firstIndex(where: { $0 === product }) {
      chunk.retired.remove(at: index)
      finishFree(chunk, product, "invalidated")
      return
    }
    let departure = chunk.stamp <= protectedSince ? product.departure : nil
    if let departure {
      departed.insert(chunk.name)
      free(chunk, departure)
    }
    // The end of a use of nothing is not noticed.
    if product.size > 0 || departure != nil { dropSurplus() }
  }
}
