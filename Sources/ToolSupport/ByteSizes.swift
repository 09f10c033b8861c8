/// Reads a size such as `10MB`, `512 KB`, `1.5GB` or `4096`; a KB is 2^10 bytes, an MB 2^20, a GB 2^30.
///
/// Returns nil for what is not a size, is not a whole number of bytes after rounding down, or is too large to count.
public func parseByteCount(_ text: String) -> Int? {
  let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
  let unit = text[number.endIndex...].drop { $0 == " " }.uppercased()
  let factors = ["": 1, "B": 1, "K": 1 << 10, "KB": 1 << 10, "M": 1 << 20, "MB": 1 << 20, "G": 1 << 30, "GB": 1 << 30]
  guard let factor = factors[unit] else { return nil }
  if let whole = Int(number) {
    let (count, overflow) = whole.multipliedReportingOverflow(by: factor)
    return overflow ? nil : count
  }
  guard let count = Double(number).map({ $0 * Double(factor) }), count < Double(Int.max) else { return nil }
  return Int(count)
}

/// A size for people to read, in MB of 2^20 bytes with two decimals, rounded to nearest.
public func megabytes(_ byteCount: Int) -> String {
  text(hundredths: hundredths(of: byteCount, adding: 1 << 19))
}

/// The least size of two decimals that is not below `byteCount`: what is asked for in this form is enough.
public func megabytesAtLeast(_ byteCount: Int) -> String {
  text(hundredths: hundredths(of: byteCount, adding: 1 << 20 - 1))
}

/// Hundredths of an MB. Whole MB are counted apart, because a hundred times the bytes may be more than an `Int` holds.
private func hundredths(of byteCount: Int, adding rounding: Int) -> Int {
  let (whole, rest) = byteCount.quotientAndRemainder(dividingBy: 1 << 20)
  return whole * 100 + (rest * 100 + rounding) >> 20
}

private func text(hundredths: Int) -> String {
  let decimals = hundredths % 100
  return "\(hundredths / 100).\(decimals < 10 ? "0" : "")\(decimals) MB"
}
