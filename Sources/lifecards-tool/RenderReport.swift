import Cards
import MemChunks
import ToolSupport

/// What a rendering did and what it took, for people and as JSON.
struct RenderReport {
  var output: String
  var account: RenderAccount
  var threads: Int
  var seconds: Double
  /// The most memory the process had resident, in bytes; nil where the system does not say.
  var residentPeak: Int?

  var text: String {
    let bands = account.bandCount == 1 ? "in one go" : "in \(account.bandCount) bands"
    return """
      \(printable(output)): \(account.width) x \(account.height), composed \(bands)
        layers         \(account.drawnLayerCount) drawn, \(account.skippedLayerCount) not visible
        threads        \(threads)
        budget         \(megabytes(account.pool.budget))
        peak counted   \(megabytes(account.pool.peak))
        peak resident  \(residentPeak.map(megabytes) ?? "unknown on this system")
        generations    \(account.pool.generations)
        frees          \(account.pool.frees)
        time           \(Double(Int(seconds * 100)) / 100) s

      """
  }

  var json: JSON {
    .object([
      ("output", .string(output)),
      ("width", .integer(account.width)),
      ("height", .integer(account.height)),
      ("layersDrawn", .integer(account.drawnLayerCount)),
      ("layersNotVisible", .integer(account.skippedLayerCount)),
      ("bands", .integer(account.bandCount)),
      ("threads", .integer(threads)),
      ("budgetBytes", .integer(account.pool.budget)),
      ("peakCountedBytes", .integer(account.pool.peak)),
      ("peakResidentBytes", residentPeak.map(JSON.integer) ?? .null),
      ("generations", .integer(account.pool.generations)),
      ("generatedBytes", .integer(account.pool.bytesGenerated)),
      ("frees", .integer(account.pool.frees)),
      ("seconds", .number(seconds)),
    ])
  }
}
