/// The version of the OpenRaster specification that a document says it conforms to.
struct FormatVersion: Comparable {
  /// The first version in which stacks are isolated unless they say otherwise.
  static let isolatedByDefault = FormatVersion(numbers: [0, 0, 6], isPrerelease: false)

  private var numbers: [Int]
  private var isPrerelease: Bool

  private init(numbers: [Int], isPrerelease: Bool) {
    self.numbers = numbers
    self.isPrerelease = isPrerelease
  }

  /// Reads up to three numbers and ignores what a pre-release or a build is called; nil when there is no number.
  init?(_ text: String) {
    let core = text.prefix { $0 != "-" && $0 != "+" }
    let parts = core.split(separator: ".", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { part in part.allSatisfy(\.isNumber) ? Int(part) : nil }
    guard numbers.count == parts.count, parts.count <= 3 else { return nil }
    self.init(
      numbers: numbers + Array(repeating: 0, count: 3 - numbers.count),
      isPrerelease: text.dropFirst(core.count).first == "-")
  }

  static func < (left: FormatVersion, right: FormatVersion) -> Bool {
    if left.numbers == right.numbers { return left.isPrerelease && !right.isPrerelease }
    return left.numbers.lexicographicallyPrecedes(right.numbers)
  }
}
