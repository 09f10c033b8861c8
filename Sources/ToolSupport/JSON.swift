/// A value to be written as JSON (RFC 8259).
public enum JSON: Sendable {
  /// Members in the order in which they are written.
  case object([(String, JSON)])
  /// Values in order.
  case array([JSON])
  /// Text; what is not valid Unicode has been replaced before.
  case string(String)
  /// A whole number.
  case integer(Int)
  /// A number; one that is not finite is written as null.
  case number(Double)
  /// True or false.
  case bool(Bool)
  /// Nothing.
  case null

  /// The value as JSON text on one line.
  public var text: String {
    switch self {
    case .object(let members):
      "{" + members.map { Self.quoted($0) + ":" + $1.text }.joined(separator: ",") + "}"
    case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
    case .string(let string): Self.quoted(string)
    case .integer(let integer): String(integer)
    case .number(let number): number.isFinite ? String(number) : "null"
    case .bool(let bool): String(bool)
    case .null: "null"
    }
  }

  private static func quoted(_ string: String) -> String {
    var text = "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"", "\\": text += "\\" + String(scalar)
      // Control characters must be escaped; the second range is what terminals may act on.
      case "\0"..."\u{1f}", "\u{7f}"..."\u{9f}": text += "\\u" + hexadecimal(scalar, width: 4)
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "\""
  }
}

/// The number of a character in hexadecimal, with zeros in front up to a width.
func hexadecimal(_ scalar: Unicode.Scalar, width: Int) -> String {
  let digits = String(scalar.value, radix: 16)
  return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
