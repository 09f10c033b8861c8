internal import CExpat

/// Reads `stack.xml` piece by piece into a document.
///
/// The parser keeps a list of open elements instead of recursing. Anything that could make the picture differ from what
/// its author saw is an error: unknown elements, numbers out of range, a document type definition (which could bring
/// in other files or expand without bound). Elements with a prefix are extensions of other programs, and skipped.
final class StackParser {
  /// An element whose end has not been seen.
  private enum Open {
    case image
    case stack(start: Int)
    case layer
    case skipped
  }

  /// How deep elements may nest; deeper than any document needs, and a bound on what hostile files cost.
  static let depthLimit = 4_096
  /// How long `stack.xml` may be, in bytes.
  static let byteCountLimit = 4 << 20

  private let file: String
  private let parser: XML_Parser
  private var failure: CardError?
  private var open: [Open] = []
  private var image: ImageAttributes?
  private var items: [CardDocument.Item] = []
  private var byteCount = 0

  /// Makes a parser whose errors name `file`.
  init(file: String) {
    guard let parser = XML_ParserCreate(nil) else { fatalError("no memory for an XML parser") }
    self.file = file
    self.parser = parser
    XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
    XML_SetElementHandler(
      parser,
      { user, name, attributes in
        guard let user, let name else { return }
        StackParser.at(user).start(String(cString: name), attributes)
      },
      { user, _ in
        guard let user else { return }
        StackParser.at(user).end()
      })
    XML_SetStartDoctypeDeclHandler(parser) { user, _, _, _, _ in
      guard let user else { return }
      StackParser.at(user).fail("a document type definition is not allowed; save the document again")
    }
  }

  deinit {
    XML_ParserFree(parser)
  }

  /// Parses the next bytes of the file.
  func parse(_ bytes: UnsafeRawBufferPointer) throws(CardError) {
    byteCount += bytes.count
    guard byteCount <= Self.byteCountLimit else {
      fail("the file is longer than \(Self.byteCountLimit) bytes")
      throw failure ?? unreadable()
    }
    let status = XML_Parse(parser, bytes.bindMemory(to: CChar.self).baseAddress, Int32(bytes.count), 0)
    try check(status)
  }

  /// Ends the file and gives back what it describes.
  func finish() throws(CardError) -> CardDocument {
    try check(XML_Parse(parser, nil, 0, 1))
    guard let image, !items.isEmpty else {
      fail("there is no stack in the image")
      throw failure ?? unreadable()
    }
    return CardDocument(width: image.width, height: image.height, items: items)
  }

  private static func at(_ user: UnsafeMutableRawPointer) -> StackParser {
    Unmanaged<StackParser>.fromOpaque(user).takeUnretainedValue()
  }

  private func check(_ status: XML_Status) throws(CardError) {
    if let failure { throw failure }
    if status != XML_STATUS_OK { throw unreadable() }
  }

  private func unreadable() -> CardError {
    .badStack(file: file, line: line, reason: String(cString: XML_ErrorString(XML_GetErrorCode(parser))))
  }

  private var line: Int { Int(XML_GetCurrentLineNumber(parser)) }

  private func fail(_ reason: String) {
    fail(CardError.badStack(file: file, line: line, reason: reason))
  }

  /// Keeps the first error, which cannot be thrown through C, and stops the parser.
  private func fail(_ error: CardError) {
    if failure != nil { return }
    failure = error
    XML_StopParser(parser, 0)
  }
}

extension StackParser {
  private func start(_ element: String, _ list: UnsafeMutablePointer<UnsafePointer<CChar>?>?) {
    // expat may deliver an end or a start that was already on its way when it was stopped.
    guard failure == nil else { return }
    guard open.count < Self.depthLimit else {
      fail("elements nest deeper than \(Self.depthLimit)")
      return
    }
    let attributes = StackAttributes(file: file, line: line, list)
    do throws(CardError) {
      switch (open.last, element) {
      case (.skipped, _): open.append(.skipped)
      case (nil, "image"):
        image = try attributes.image()
        open.append(.image)
      case (.image, "stack") where items.isEmpty, (.stack, "stack"):
        try startStack(attributes, isRoot: items.isEmpty)
      case (.stack, "layer"):
        items.append(.layer(try attributes.layer()))
        open.append(.layer)
      case (.some, _) where element.contains(":"): open.append(.skipped)
      default: fail("<\(element.prefix(60))> is not supported here; remove it from the document")
      }
    } catch {
      fail(error)
    }
  }

  private func startStack(_ attributes: StackAttributes, isRoot: Bool) throws(CardError) {
    var stack = try attributes.stack(version: image?.version)
    if isRoot { stack.isolation = .isolated }
    open.append(.stack(start: items.count))
    items.append(.stackStart(stack))
  }

  private func end() {
    guard failure == nil else { return }
    if case .stack(let start) = open.popLast() {
      items.append(.stackEnd(start: start))
    }
  }
}
