// libCacheSim's oracleGeneral: records of 24 bytes, little endian, without a header: time in seconds (32 bits), object (64),
// size (32), and the number of the request that asks for it next (64, -1 for none). It knows no costs.
extension Trace {
  private static var recordSize: Int { 24 }

  /// Reads libCacheSim's oracleGeneral. Costs are unknown there: every object costs one microsecond.
  ///
  /// - Parameters:
  ///   - file: what to call it in errors.
  ///   - salvage: takes what stands before the first record that makes no sense for the whole.
  /// - Throws: `TraceError`, with the offset of the record that makes no sense.
  public init(oracleGeneral bytes: [UInt8], file: String, salvage: Bool = false) throws(TraceError) {
    self.init()
    guard !bytes.isEmpty else { throw .empty(file: file) }
    let count = bytes.count / Self.recordSize
    for index in 0..<count {
      let offset = index * Self.recordSize
      let next = Int64(bitPattern: Self.number(bytes, at: offset + 16, bytes: 8))
      // The one thing that tells a foreign file from one of these.
      guard next == -1 || next == .max || next > Int64(index) && next < 1 << 48 else {
        if salvage, index > 0 { return }
        if index == 0 { throw .foreign(file: file) }
        throw .damaged(file: file, offset: offset, reason: "its next request is in the past, or too far ahead")
      }
      append(
        key: Self.number(bytes, at: offset + 4, bytes: 8), size: Int(Self.number(bytes, at: offset + 12, bytes: 4)),
        cost: 1_000)
    }
    guard count * Self.recordSize == bytes.count || salvage else {
      throw .damaged(file: file, offset: count * Self.recordSize, reason: "the last record is cut off")
    }
  }

  /// Writes libCacheSim's oracleGeneral; the time is the request's number. Sizes of 4 GB and more do not fit: nil. What objects
  /// need is left out, as from `csv`.
  public var oracleGeneral: [UInt8]? {
    guard objects.allSatisfy({ $0.size <= UInt32.max }) else { return nil }
    let next = NextUses(self).next
    var bytes: [UInt8] = []
    bytes.reserveCapacity(requests.count * Self.recordSize)
    for (index, object) in requests.enumerated() {
      let known = objects[Int(object)]
      Self.append(UInt64(UInt32(truncatingIfNeeded: index)), 4, to: &bytes)
      Self.append(known.key, 8, to: &bytes)
      Self.append(UInt64(known.size), 4, to: &bytes)
      Self.append(next[index] == .max ? .max : UInt64(next[index]), 8, to: &bytes)
    }
    return bytes
  }

  private static func number(_ bytes: [UInt8], at offset: Int, bytes count: Int) -> UInt64 {
    (0..<count).reduce(0) { $0 | UInt64(bytes[offset + $1]) << UInt64(8 * $1) }
  }

  private static func append(_ number: UInt64, _ count: Int, to bytes: inout [UInt8]) {
    for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * index))) }
  }
}
