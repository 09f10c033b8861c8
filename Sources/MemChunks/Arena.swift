import CMemChunks
import ChunkLedger

/// The memory behind the ledger's page map: address space, reserved in a few large pieces and resident
/// only where pages are counted. Guarded by the pool's lock.
///
/// The pieces are larger than the budget, so raising the budget moves nothing. Between the page numbers of two pieces
/// lies a gap, so that no run can reach from one into the next.
struct Arena: ~Copyable {
  private var pieces: [(firstPage: Int, pages: Int, base: UnsafeMutableRawPointer)] = []
  let pageSize = mc_page_size()

  deinit {
    for piece in pieces { mc_unreserve(piece.base, piece.pages * pageSize) }
  }

  /// Reserves room for a run of `pages` and tells the map. False where the system has no more.
  ///
  /// Asks for four times the budget, so that a hole can be found without moving anything, and for less
  /// where that much is not to be had (`ulimit -v`).
  mutating func addPiece(atLeast pages: Int, budget: Int, _ map: inout ArenaMap) -> Bool {
    var wanted = max(pages, 4 * budget / pageSize, 4_096)
    while wanted >= pages {
      if let base = mc_reserve(wanted * pageSize) {
        let first = pieces.last.map { $0.firstPage + $0.pages + 1 } ?? 0
        pieces.append((first, wanted, base))
        map.addCapacity(pages: wanted, at: first)
        return true
      }
      if wanted == pages { return false }
      wanted = max(pages, wanted / 2)
    }
    return false
  }

  func address(of run: PageRun) -> UnsafeMutableRawPointer {
    let piece = pieces.last { $0.firstPage <= run.start }!
    return piece.base + (run.start - piece.firstPage) * pageSize
  }

  /// Makes pages nonresident. About a microsecond a call and a tenth of one a page; done under the
  /// lock, because the room it makes may be taken only afterwards.
  func giveBack(_ runs: [PageRun]) {
    for run in runs { mc_discard_pages(address(of: run), run.count * pageSize) }
  }
}
