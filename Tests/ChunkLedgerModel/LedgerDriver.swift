package import ChunkLedger

/// Does the same random things to a ledger and to its model, and compares everything after each.
///
/// It plays the pool, one step at a time: requests and their grants, of which several are in flight;
/// uses by scopes and tokens; frames; late frees; limits that move; hits that race with claims. Both sides have an
/// owner of their own, which gets the same uses, so that what the ledger asks of it is compared too.
package struct LedgerDriver<Order: EvictOrder>: ~Copyable {
  /// A grant whose victims are being freed. The model's promise has the same number in its list.
  struct Flight {
    var grant: Grant
    /// The generation that asked for more, if it is not for new ones.
    var growing: Slot?
  }

  var ledger: Ledger<Order>
  var owner = ScriptedOwner()
  var model: LedgerModel
  var random: ModelRandom
  var flights: [Flight] = []
  /// The stamps at which the open frames began, oldest first.
  var frames: [UInt64] = []
  var lastRefused: RoomRequest?
  var tally = ModelTally()
  /// What was counted when the last step ended.
  private(set) var counted = 0
  private(set) var steps = 0
  /// What the two sides disagree about.
  private(set) var disagreement: StaticString?

  package init(seed: UInt64, order: Order) {
    let budget = 2_000
    ledger = Ledger(budget: budget, pageSize: Self.pageSize, order: order)
    model = LedgerModel(
      budget: budget, keepLimit: budget, pageSize: Self.pageSize, goesByRecency: order.followsRecency)
    random = ModelRandom(seed: seed)
  }

  static var pageSize: Int { 16 }

  /// How often what is named in `ModelTally` happened so far.
  package func tallies() -> ModelTally { tally }

  /// Runs until `total` steps have been done; returns the first thing on which the two disagree, and `stepsDone` is then the
  /// number of that step, from 1.
  ///
  /// - Parameter interval: after how many steps the ledger is asked to recount itself.
  package mutating func run(to total: Int, recountEvery interval: Int = 8) -> StaticString? {
    while steps < total, disagreement == nil {
      steps += 1
      let budget = model.budget
      let before = counted
      act()
      giveBackPages()
      compare()
      if counted > model.budget {
        tally.stepsAboveBudget += 1
        expect(counted <= before || model.budget < budget, "the count rose above the budget")
        expect(ledger.overdraft > 0, "more is counted than the budget, and it is not said")
      }
      if steps % interval == 0, let broken = ledger.firstBrokenInvariant() { expect(false, broken) }
    }
    return disagreement
  }

  /// The number of steps done, the one that failed included.
  package func stepsDone() -> Int { steps }

  mutating func expect(_ holds: Bool, _ otherwise: StaticString) {
    if !holds, disagreement == nil { disagreement = otherwise }
  }

  private mutating func act() {
    switch random.below(100) {
    case 0..<14: hit()
    case 14..<21: beginUse()
    case 21..<35: endUse()
    case 35..<50: request()
    case 50..<60: completeFlight()
    case 60..<78: settle()
    case 78..<79: abandon()
    case 79..<81: grow()
    case 81..<85: finishFree()
    case 85..<89: finishLate()
    case 89..<91: invalidate()
    case 91..<92: depart()
    case 92..<93: free()
    case 93..<95: changeFrames()
    case 95..<97: moveLimits()
    case 97..<98: changeGroups()
    case 98..<99: dropSurplus()
    default: race()
    }
  }

  /// Chunks used after this stamp are protected by a frame.
  var protectedSince: UInt64 { frames.first ?? .max }

  private mutating func giveBackPages() {
    let wanted = model.pagesToGiveBack
    var given = 0
    for run in ledger.pagesToGiveBack() {
      expect(run.count > 0 && model.board.cool(run), "a page was given back that was not warm")
      given += run.count
    }
    expect(given == wanted, "more or fewer pages were given back than needed")
    tally.pagesGivenBack += given
    counted = model.counted
    model.peak = max(model.peak, counted)
  }
}

/// How often the interesting things happened: a run that never refuses proves little.
package struct ModelTally: Sendable {
  package var grants = 0
  package var victims = 0
  package var refusals = 0
  package var refusalsWithoutLook = 0
  package var tooLarge = 0
  package var takenBack = 0
  package var lateFrees = 0
  package var notPlaced = 0
  package var placedInArena = 0
  package var pagesGivenBack = 0
  package var surplusVictims = 0
  package var stepsAboveBudget = 0
  package var extensions = 0
}
