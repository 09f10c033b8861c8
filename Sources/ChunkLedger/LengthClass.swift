/// Lengths in classes: exact below eight, then eight classes to a doubling.
enum LengthClass {
  static let count = 8 + 8 * 29

  static func index(of length: Int) -> Int {
    guard length >= 8 else { return length }
    let exponent = Int.bitWidth - 1 - length.leadingZeroBitCount
    return 8 + (exponent - 3) * 8 + ((length >> (exponent - 3)) & 7)
  }
}
