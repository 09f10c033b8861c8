import CMemChunks
import ChunkLedger

/// The memory behind the ledger's page map: address space, reserved in a few large pieces and resident
/// only where pages are counted. Guarded by the pool's lock.
///
/// A piece is reserved when no hole is long enough, and never moves, so raising the budget moves nothing. Between the
/// page numbers of two pieces lies a gap, so that no run can reach from one into the next.
struct Arena: ~Copyable {
  private var pieces: [(firstPage: Int, pages: Int, base: UnsafeMutableRawPointer)] = []
  let pageSize = mc_page_size()
  /// Whether pieces are to be backed by huge pages.
  private(set) var usesHugePages = false

  deinit {
    for piece in pieces { mc_unreserve(piece.base, piece.pages * pageSize) }
  }

  /// The most pages of address space in all pieces of a pool together.
  ///
  /// Far more than can be resident, so that only holes could use it up; and as many as the map's numbers and tables,
  /// some bytes a page, can stand. It counts in 32 bits.
  private static let mostPages = {
    let physical = mc_physical_pages()
    return min(physical > 0 ? 4 * physical : .max, Int(Int32.max))
  }()

  /// The most bytes reserved before they are needed, for a first piece.
  private static let firstPiece = 1 << 30

  /// Reserves room for a run of `pages` and tells the map. False where there is no more.
  ///
  /// Asks for four times the budget, so that a hole can be found without moving anything. Of a very large budget only the
  /// beginning, then as much again as there is: many pools with budgets without end must leave each other address
  /// space. And for less where that much is not to be had (`ulimit -v`).
  mutating func addPiece(atLeast pages: Int, budget: Int, _ map: inout ArenaMap) -> Bool {
    let first = pieces.last.map { $0.firstPage + $0.pages + 1 } ?? 0
    let left = Self.mostPages - first
    guard pages <= left else { return false }
    let ahead = min(4 * budget / pageSize, max(Self.firstPiece / pageSize, first))
    var wanted = min(max(pages, ahead, 4_096), left)
    while wanted >= pages {
      if let base = mc_reserve(wanted * pageSize) {
        pieces.append((first, wanted, base))
        // Many systems use them unasked, and with them more is resident than is counted.
        _ = mc_use_huge_pages(base, wanted * pageSize, usesHugePages)
        map.addCapacity(pages: wanted, at: first)
        return true
      }
      if wanted == pages { return false }
      wanted = max(pages, wanted / 2)
    }
    return false
  }

  /// Applies to what is made resident from now on. What is resident stays as it is.
  mutating func useHugePages(_ wanted: Bool) {
    guard wanted != usesHugePages else { return }
    usesHugePages = wanted
    for piece in pieces { _ = mc_use_huge_pages(piece.base, piece.pages * pageSize, wanted) }
  }

  func address(of run: PageRun) -> UnsafeMutableRawPointer {
    let piece = pieces.last { $0.firstPage <= run.start }!
    return piece.base + (run.start - piece.firstPage) * pageSize
  }

  /// Makes pages nonresident. About a microsecond a call and a tenth of one a page; done under the
  /// lock, because the room it makes may be taken only afterwards.
  func giveBack(_ runs: Few<PageRun>) {
    for run in runs { mc_discard_pages(address(of: run), run.count * pageSize) }
  }
}
