/// How labels are shown: quoted or as a list, those that are empty by words, and none of them able to break a line.
enum Labels {
  static func quoted(_ label: String) -> String { label.isEmpty ? "a chunk without label" : "\"\(escaped(label))\"" }

  static func quoted(group: String) -> String {
    group.isEmpty ? "a group without label" : "group \"\(escaped(group))\""
  }

  /// Several, in their order; how many are unlabelled at the end.
  static func list(_ labels: [String], quoted: Bool) -> String {
    var items = labels.filter { !$0.isEmpty }.map { quoted ? self.quoted($0) : $0 }
    let unlabelled = labels.count - items.count
    if unlabelled > 0 { items.append("\(unlabelled) unlabelled") }
    return items.joined(separator: ", ")
  }

  /// The label on one line: control characters, line separators, and what changes the direction of writing as `\u{a}`.
  static func escaped(_ label: String) -> String {
    var result = ""
    for scalar in label.unicodeScalars {
      switch scalar {
      case "\u{2028}", "\u{2029}", "\u{202a}"..."\u{202e}", "\u{2066}"..."\u{2069}", "\0"..<" ", "\u{7f}"..."\u{9f}":
        result += "\\u{\(String(scalar.value, radix: 16))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

/// A number with its noun: `1 hit`, `2 hits`.
func counted(_ number: Int, _ one: String, _ many: String? = nil) -> String {
  "\(number) \(number == 1 ? one : many ?? one + "s")"
}
