/// Text that does nothing to a terminal: characters that would are written as `\u{1b}`.
///
/// Names in files are whatever their authors, or attackers, wrote. Escaped are control characters, line separators and
/// those that change the direction of writing.
public func printable(_ text: String) -> String {
  var result = ""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\u{2028}", "\u{2029}", "\u{202a}"..."\u{202e}", "\u{2066}"..."\u{2069}":
      result += "\\u{" + hexadecimal(scalar, width: 1) + "}"
    default:
      if scalar.properties.generalCategory == .control {
        result += "\\u{" + hexadecimal(scalar, width: 1) + "}"
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
  }
  return result
}
