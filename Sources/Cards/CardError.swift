/// What is wrong with a card document: in which file, where in it, and why.
///
/// The description is one line that says what a person can do about it. Names stand in it as they are; a program that
/// prints it to a terminal escapes control characters first.
public enum CardError: Error, Sendable, Hashable {
  /// The file cannot be opened, or is not a zip archive.
  case cannotOpen(file: String, reason: String)
  /// Reading the file failed below the format, for example because a disk did.
  case cannotRead(file: String, reason: String)
  /// The file is an archive, but not an OpenRaster document.
  case notOpenRaster(file: String, reason: String)
  /// An entry that is needed is not in the file.
  case missingEntry(file: String, entry: String)
  /// The file is no longer the one that was opened: it was written to, replaced or removed.
  case changed(file: String)
  /// Two entries have the same name, so that readers could disagree on the picture.
  case duplicateEntry(file: String, entry: String)
  /// An entry is encrypted.
  case encryptedEntry(file: String, entry: String)
  /// An entry cannot be read, for example because it is damaged.
  case cannotReadEntry(file: String, entry: String, reason: String)
  /// A layer's source points out of the file.
  case sourceLeavesFile(file: String, layer: String, source: String)
  /// The description of the layers breaks the rules at `line` of `stack.xml`.
  case badStack(file: String, line: Int, reason: String)
  /// An attribute's value at `line` of `stack.xml` is not what the format allows.
  case badValue(file: String, line: Int, attribute: String, value: String, expected: String)
  /// A visible layer or stack wants an operator that is not implemented.
  case unsupportedOperator(file: String, item: String, compositeOperator: String)
  /// Not even one row of the canvas and the layers of its dearest part fit into the budget; sizes in bytes.
  case budgetTooSmall(file: String, needed: Int, budget: Int)
  /// The system starts no thread.
  case noThread(file: String)
}

extension CardError: CustomStringConvertible {
  /// File, place, reason and remedy in one line.
  public var description: String {
    switch self {
    case .cannotOpen(let file, let reason):
      "\(file): cannot be opened: \(reason); give the name of an OpenRaster file (.ora)"
    case .cannotRead(let file, let reason):
      "\(file): cannot be read: \(reason)"
    case .notOpenRaster(let file, let reason):
      "\(file): this is not an OpenRaster file: \(reason)"
    case .missingEntry(let file, let entry):
      "\(file): there is no \(short(entry)) in it; save the document again"
    case .changed(let file):
      "\(file): the file has changed since it was opened; start again when nobody writes to it"
    case .duplicateEntry(let file, let entry):
      "\(file): \(short(entry)) is in it twice; save the document again"
    case .encryptedEntry(let file, let entry):
      "\(file): \(short(entry)) is encrypted; save the document without a password"
    case .cannotReadEntry(let file, let entry, let reason):
      "\(file): \(short(entry)): cannot be read: \(reason); save the document again"
    case .sourceLeavesFile(let file, let layer, let source):
      "\(file): layer \"\(short(layer))\": its source \(short(source)) is not inside the file; save the document again"
    case .badStack(let file, let line, let reason):
      "\(file): stack.xml, line \(line): \(reason)"
    case .badValue(let file, let line, let attribute, let value, let expected):
      "\(file): stack.xml, line \(line): \(attribute)=\"\(short(value))\": expected \(expected)"
    case .unsupportedOperator(let file, let item, let compositeOperator):
      "\(file): \(short(item)): the operator \(short(compositeOperator)) is not supported; use \(CardBlend.sourceOver) or hide it"
    case .budgetTooSmall(let file, let needed, let budget):
      "\(file): needs at least \(needed) bytes to be composed, the budget is \(budget); raise the budget"
    case .noThread(let file):
      "\(file): cannot be composed: the system starts no thread; raise the limit of processes"
    }
  }

  /// Names are as long as a file makes them, and a line is to be read.
  private func short(_ name: String) -> String {
    name.count > 200 ? name.prefix(200) + "..." : name
  }
}
