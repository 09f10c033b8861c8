/// What the `image` element says.
struct ImageAttributes {
  var width: Int
  var height: Int
  var version: FormatVersion?
}

/// The attributes of one element of `stack.xml`, read strictly.
struct StackAttributes {
  private let file: String
  private let line: Int
  private let values: [String: String]

  /// Copies the names and values that the XML parser lists in turn, ended by nil.
  init(file: String, line: Int, _ list: UnsafeMutablePointer<UnsafePointer<CChar>?>?) {
    self.file = file
    self.line = line
    var values: [String: String] = [:]
    var next = list
    while let pair = next, let name = pair[0], let value = pair[1] {
      values[String(cString: name)] = String(cString: value)
      next = pair + 2
    }
    self.values = values
  }

  func image() throws(CardError) -> ImageAttributes {
    ImageAttributes(width: try side("w"), height: try side("h"), version: try version())
  }

  func layer() throws(CardError) -> CardLayer {
    guard let source = values["src"] else { throw bad("src", "the name of an entry in the file") }
    return CardLayer(
      name: values["name"] ?? "", source: source, x: try offset("x"), y: try offset("y"), blend: try blend())
  }

  /// A stack of a document of `version`; a stack's x and y are no longer part of the format and move nothing.
  func stack(version: FormatVersion?) throws(CardError) -> CardStack {
    let blend = try blend()
    return CardStack(
      name: values["name"] ?? "", blend: blend, isolation: try isolation(version: version, opacity: blend.opacity))
  }

  private func blend() throws(CardError) -> CardBlend {
    CardBlend(
      opacity: try opacity(), isVisible: try isVisible(),
      compositeOperator: values["composite-op"] ?? CardBlend.sourceOver)
  }

  /// Since 0.0.6 a stack that says nothing is isolated.
  ///
  /// Before that it was not, but one with an opacity below 1 was to be treated as isolated all the same
  /// (layer stack specification, 0.0.4, "Compositing the image"). So the version decides how `auto` is read too.
  private func isolation(version: FormatVersion?, opacity: Double) throws(CardError) -> CardStack.Isolation {
    let isCurrent = version.map { $0 >= .isolatedByDefault } ?? false
    switch values["isolation"] ?? (isCurrent ? "isolate" : "auto") {
    case "isolate": return .isolated
    case "auto": return isCurrent || opacity == 1 ? .passThrough : .isolated
    default: throw bad("isolation", "isolate or auto")
    }
  }

  private func isVisible() throws(CardError) -> Bool {
    switch values["visibility"] ?? "visible" {
    case "visible": return true
    case "hidden": return false
    default: throw bad("visibility", "visible or hidden")
    }
  }

  private func opacity() throws(CardError) -> Double {
    guard let text = values["opacity"] else { return 1 }
    // Double alone would also take hexadecimal, infinities and "nan".
    let isPlain = text.utf8.allSatisfy { "0123456789.+-eE".utf8.contains($0) }
    guard isPlain, let opacity = Double(text), (0...1).contains(opacity) else {
      throw bad("opacity", "a number from 0 to 1")
    }
    return opacity
  }

  private func side(_ attribute: String) throws(CardError) -> Int {
    // The limit bounds the memory of one row, like that of the pictures that layers are made of.
    guard let side = values[attribute].flatMap({ Int($0) }), (1...65_535).contains(side) else {
      throw bad(attribute, "a whole number of pixels from 1 to 65535")
    }
    return side
  }

  private func offset(_ attribute: String) throws(CardError) -> Int {
    guard let text = values[attribute] else { return 0 }
    guard let offset = Int32(text) else { throw bad(attribute, "a whole number of pixels") }
    return Int(offset)
  }

  private func version() throws(CardError) -> FormatVersion? {
    guard let text = values["version"] else { return nil }
    guard let version = FormatVersion(text) else { throw bad("version", "a version such as 0.0.6") }
    return version
  }

  private func bad(_ attribute: String, _ expected: String) -> CardError {
    .badValue(file: file, line: line, attribute: attribute, value: values[attribute] ?? "", expected: expected)
  }
}
