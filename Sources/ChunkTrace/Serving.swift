import ChunkLedger

/// Something that serves requests one by one, each in two steps: between them, what the object is generated from is asked for.
protocol Replayer {
  /// A request, asked by the trace, or by another object's generation: that object's index then, else -1.
  mutating func begin(_ object: Int32, inside outer: Int32) -> ReplayStep
  /// The product for which there is room is there.
  mutating func end(_ object: Int32)
}

extension Trace {
  func run(_ replayer: some Replayer) -> ReplayResult {
    var service = Service(self, replayer)
    service.serveAll(requests)
    return service.result
  }

  /// The requests as least recently used serves them within a budget, those that generations make in their places: the one
  /// form that formats have which know no needs. Nothing more is known of needs and peaks there, and planned work is left out.
  public func flattened(budget: Int) -> Trace {
    var service = Service(self, RecencyReplay(self, budget: budget))
    service.line = []
    service.serveAll(requests)
    var flat = Trace()
    for object in service.line ?? [] {
      let known = objects[Int(object)]
      flat.append(key: known.key, size: known.size, cost: known.cost, label: known.label)
    }
    return flat
  }
}

/// Serves the requests of a trace, and those that the misses among them lead to.
private struct Service<Served: Replayer> {
  /// What is being generated, and how many of its needs were asked for.
  private struct Generation {
    var object: Int32
    var needsAsked = 0
    var hasRoom: Bool
  }

  private let objects: [Trace.Object]
  private let hasNeeds: Bool
  private var replayer: Served
  private var uses: [Int32]
  private var misses: [Int32]
  private var running: [Generation] = []
  /// Which objects are being generated. Asked for then, they would need themselves, which a pool refuses.
  private var isRunning: [Bool]
  /// What was refused in the present request of the trace, and asked for its needs. Once is enough: else there could be more
  /// such requests than anybody can wait for.
  private var refused: Set<Int32> = []
  /// All that was asked for, in its order, where that is wanted.
  var line: [Int32]?

  init(_ trace: Trace, _ replayer: Served) {
    objects = trace.objects
    hasNeeds = objects.contains { !$0.needs.isEmpty }
    self.replayer = replayer
    uses = Array(repeating: 0, count: objects.count)
    misses = uses
    isRunning = Array(repeating: false, count: objects.count)
  }

  mutating func serveAll(_ requests: [Int32]) {
    requests.withUnsafeBufferPointer { requests in
      guard !hasNeeds, line == nil else {
        for object in requests { serve(object) }
        return
      }
      for object in requests {
        uses[Int(object)] += 1
        let step = replayer.begin(object, inside: -1)
        if step == .hit { continue }
        misses[Int(object)] += 1
        if step == .room { replayer.end(object) }
      }
    }
  }

  private mutating func serve(_ object: Int32) {
    begin(object, inside: -1)
    while let generation = running.last {
      let needs = objects[Int(generation.object)].needs
      if generation.needsAsked < needs.count {
        running[running.count - 1].needsAsked += 1
        begin(needs[generation.needsAsked], inside: generation.object)
      } else {
        running.removeLast()
        isRunning[Int(generation.object)] = false
        if generation.hasRoom { replayer.end(generation.object) }
      }
    }
    refused.removeAll(keepingCapacity: true)
  }

  private mutating func begin(_ object: Int32, inside outer: Int32) {
    guard !isRunning[Int(object)] else { return }
    uses[Int(object)] += 1
    line?.append(object)
    let step = replayer.begin(object, inside: outer)
    if step == .hit { return }
    misses[Int(object)] += 1
    if step == .refused, !refused.insert(object).inserted { return }
    isRunning[Int(object)] = true
    running.append(Generation(object: object, hasRoom: step == .room))
  }

  var result: ReplayResult {
    var result = ReplayResult()
    for (index, object) in objects.enumerated() {
      result.requests += Int(uses[index])
      result.requestedBytes = result.requestedBytes.addingOrMost(object.size.timesOrMost(Int(uses[index])))
      result.misses += Int(misses[index])
      result.missedBytes = result.missedBytes.addingOrMost(object.size.timesOrMost(Int(misses[index])))
      result.missedCost = result.missedCost.addingOrMost(object.cost.timesOrMost(UInt64(misses[index])))
    }
    result.missesOfObjects = misses
    return result
  }
}
