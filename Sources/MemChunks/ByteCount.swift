/// A number of bytes, as budgets and limits are given. A megabyte is 2^20 bytes.
///
///     pool.budget = .megabytes(6)
public struct ByteCount: Sendable, Hashable, Comparable {
  /// The bytes; never negative.
  public let bytes: Int

  /// So many bytes; a negative number is taken as none.
  public static func bytes(_ count: Int) -> ByteCount { ByteCount(count) }

  /// So many times 1 024 bytes.
  public static func kilobytes(_ count: Int) -> ByteCount { ByteCount(saturating: count, times: 1 << 10) }

  /// So many times 1 048 576 bytes.
  public static func megabytes(_ count: Int) -> ByteCount { ByteCount(saturating: count, times: 1 << 20) }

  /// So many times 1 073 741 824 bytes.
  public static func gigabytes(_ count: Int) -> ByteCount { ByteCount(saturating: count, times: 1 << 30) }

  /// By bytes.
  public static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }

  /// Half the address range: sums of a few such numbers cannot overflow.
  static let most = Int.max / 4

  init(_ count: Int) {
    bytes = min(max(0, count), Self.most)
  }

  private init(saturating count: Int, times unit: Int) {
    let (product, overflow) = count.multipliedReportingOverflow(by: unit)
    self.init(overflow ? (count < 0 ? 0 : Self.most) : product)
  }
}

extension ByteCount: CustomStringConvertible {
  /// The number in the unit that suits it: `10 MB`, `1.5 KB`, `12 bytes`.
  public var description: String {
    // What would be rounded to a whole larger unit is said in that one.
    for (unit, name) in [(1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")] where bytes >= unit - unit / 20_480 {
      // One decimal, rounded, without Foundation's formatters.
      let tenths = Int((Double(bytes) / Double(unit) * 10).rounded())
      return tenths % 10 == 0 ? "\(tenths / 10) \(name)" : "\(tenths / 10).\(tenths % 10) \(name)"
    }
    return counted(bytes, "byte")
  }

  /// The same, with the bytes where the unit is another: `10 MB (10485760 bytes)`.
  var exact: String { bytes < 1 << 10 ? "\(self)" : "\(self) (\(bytes) bytes)" }
}
