extension CardDocument {
  /// The document as the text of `stack.xml`, version 0.0.6.
  var stackXML: String {
    var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    text += "<image version=\"0.0.6\" w=\"\(width)\" h=\"\(height)\">\n"
    for item in items {
      switch item {
      case .layer(let layer):
        text += "<layer\(attributes(layer.name, layer.blend)) src=\"\(escaped(layer.source))\""
        text += " x=\"\(layer.x)\" y=\"\(layer.y)\"/>\n"
      case .stackStart(let stack):
        let isolation = stack.isolation == .isolated ? "isolate" : "auto"
        text += "<stack\(attributes(stack.name, stack.blend)) isolation=\"\(isolation)\">\n"
      case .stackEnd: text += "</stack>\n"
      }
    }
    return text + "</image>\n"
  }

  private func attributes(_ name: String, _ blend: CardBlend) -> String {
    " name=\"\(escaped(name))\" opacity=\"\(blend.opacity)\" visibility=\"\(blend.isVisible ? "visible" : "hidden")\""
      + " composite-op=\"\(escaped(blend.compositeOperator))\""
  }

  /// Text as it may stand in an attribute; what XML 1.0 has no way to write becomes a replacement character.
  private func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case "\"": result += "&quot;"
      case "\t", "\n", "\r": result += "&#\(scalar.value);"
      case "\0"..."\u{1f}", "\u{fffe}", "\u{ffff}": result += "\u{fffd}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
