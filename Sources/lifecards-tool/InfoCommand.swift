import Cards
import Pictures
import ToolSupport

/// `lifecards info`: says what is in a document and what rendering it will take, from its headers alone.
struct InfoCommand: Command {
  static let help = """
    Says what is in an OpenRaster document and what rendering it will take.

    usage: lifecards info IN.ora [--budget SIZE] [--threads N] [--json]

      --budget SIZE   what rendering may take at every moment (10MB)
      --threads N     with how many threads (as many as there are processors,
                      at most 8)
      --json          writes it as JSON

    Reads the description and the headers of the pictures, and no pixels. The peak is
    what will be counted against the budget, within 15 %. With more than one band,
    decoders do not all fit in the budget, and every layer is decoded once for each
    band that it reaches.

    examples:
      lifecards info card.ora
      lifecards info card.ora --budget 4MB --threads 1 --json

    """

  private let input: BytePath
  private let budget: Int
  private let options: RenderOptions
  private let wantsJSON: Bool

  init(_ arguments: [[UInt8]]) throws(UsageError) {
    let arguments = try Arguments(arguments, flags: ["--json"], options: Self.renderOptions)
    guard arguments.operands.count == 1 else { throw UsageError("info needs the name of one document") }
    input = BytePath(bytes: arguments.operands[0])
    (budget, options) = try Self.budgetAndOptions(arguments)
    wantsJSON = arguments.has("--json")
  }

  func run() throws {
    let forecast = try OpenRasterFile(input).forecast(budget: budget, options: options)
    try Lifecards.write(wantsJSON ? json(forecast).text + "\n" : text(forecast))
  }

  private func text(_ forecast: RenderForecast) -> String {
    let operators = forecast.operators.sorted { $0.key < $1.key }.map { "\(printable($0.key)) (\($0.value))" }
    let bands = forecast.bandCount == 1 ? "not needed" : "\(forecast.bandCount)"
    return """
      \(printable(input.description)): \(forecast.width) x \(forecast.height)
        layers         \(forecast.layerCount): \(forecast.drawnLayerCount) drawn, \(forecast.skippedLayerCount) not visible
        operators      \(operators.joined(separator: ", "))
        as RGBA        \(megabytes(forecast.rgbaByteCount))
        budget         \(megabytes(budget)), at least \(megabytesAtLeast(forecast.leastBudget))
        peak counted   about \(megabytes(forecast.peakByteCount))
        bands          \(bands)
        fast decoders  \(forecast.fastDecoderCount)

      """
  }

  private func json(_ forecast: RenderForecast) -> JSON {
    .object([
      ("input", .string(input.description)),
      ("width", .integer(forecast.width)),
      ("height", .integer(forecast.height)),
      ("layers", .integer(forecast.layerCount)),
      ("layersDrawn", .integer(forecast.drawnLayerCount)),
      ("layersNotVisible", .integer(forecast.skippedLayerCount)),
      ("operators", .object(forecast.operators.sorted { $0.key < $1.key }.map { ($0.key, .integer($0.value)) })),
      ("rgbaBytes", .integer(forecast.rgbaByteCount)),
      ("budgetBytes", .integer(budget)),
      ("leastBudgetBytes", .integer(forecast.leastBudget)),
      ("peakCountedBytes", .integer(forecast.peakByteCount)),
      ("bands", .integer(forecast.bandCount)),
      ("fastDecoders", .integer(forecast.fastDecoderCount)),
    ])
  }
}
