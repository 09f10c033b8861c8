/// A duration for people, of so many nanoseconds.
package func milliseconds(_ nanoseconds: UInt64) -> String { "\(decimal(Double(nanoseconds) / 1e6, 1)) ms" }

/// A share for people.
package func percent(_ part: UInt64, of whole: UInt64) -> String {
  "\(decimal(whole == 0 ? 100 : Double(part) / Double(whole) * 100, 1)) %"
}

/// A number with so many decimals, rounded to nearest.
package func decimal(_ number: Double, _ decimals: Int) -> String {
  let factor = (0..<decimals).reduce(1.0) { factor, _ in factor * 10 }
  let whole = (number * factor).rounded()
  guard whole.magnitude < 1e18 else { return "\(number)" }
  let digits = String(Int(whole.magnitude))
  let padded = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
  return (whole < 0 ? "-" : "") + padded.dropLast(decimals) + "." + padded.suffix(decimals)
}

/// A table with the first column to the left and the others to the right.
package func table(_ rows: [[String]]) -> String {
  let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
  return rows.map { row in
    row.enumerated().map { column, cell in
      let space = String(repeating: " ", count: widths[column] - cell.count)
      return column == 0 ? cell + space : space + cell
    }.joined(separator: "  ")
  }.joined(separator: "\n") + "\n"
}
