/// A scan of a JPEG picture: what it holds, what it is decoded with, and where its data lie (ITU-T T.81, B.2.3).
struct JPEGScan {
  /// Indices of its components, in its order.
  let components: [Int]
  /// Coefficients, in zigzag order.
  let coefficients: ClosedRange<Int>
  /// The bit above those that it adds, 0 where it is the first of its coefficients; and the lowest of them.
  let high, low: Int
  /// For each component, where it needs them.
  let dc, ac: [JPEGHuffmanTable?]
  let restartInterval: Int
  /// The bytes of the file that are its data.
  var data = 0..<0

  /// Whether it holds first coefficients, of which every block has one.
  var hasDC: Bool { coefficients.lowerBound == 0 }

  /// Takes what a scan's segment says, which has to make sense for the picture.
  init(_ markers: JPEGMarkers, of header: JPEGHeader, _ tables: JPEGTables) throws {
    let count = Int(try markers.takeByte())
    guard (1...header.components.count).contains(count) else { throw markers.damaged("a scan of \(count) components") }
    var components: [Int] = []
    var selectors: [UInt8] = []
    for _ in 0..<count {
      let data = try markers.takeData(2)
      guard let index = header.components.firstIndex(where: { $0.identifier == data[0] }),
        !components.contains(index)
      else { throw markers.damaged("a scan of a component \(data[0])") }
      components.append(index)
      selectors.append(data[1])
    }
    let data = try markers.takeData(3)
    let (first, last) = (Int(data[0]), Int(data[1]))
    (high, low) = header.isProgressive ? (Int(data[2] >> 4), Int(data[2] & 15)) : (0, 0)
    if header.isProgressive {
      guard first <= last, last < 64, first > 0 ? count == 1 : last == 0, low < 14, high == 0 || high == low + 1 else {
        throw markers.damaged("a scan of coefficients \(first) to \(last), bits \(high) to \(low)")
      }
      coefficients = first...last
    } else {
      // Some encoders write other numbers here, which nobody looks at.
      coefficients = 0...63
    }
    self.components = components
    restartInterval = tables.restartInterval
    let needsDC = coefficients.lowerBound == 0 && high == 0, needsAC = coefficients.upperBound > 0
    dc = try selectors.map { try Self.table($0 >> 4, of: tables.dc, if: needsDC, markers) }
    ac = try selectors.map { try Self.table($0 & 15, of: tables.ac, if: needsAC, markers) }
  }

  private static func table(
    _ index: UInt8, of tables: [JPEGHuffmanTable?], if isNeeded: Bool, _ markers: JPEGMarkers
  ) throws -> JPEGHuffmanTable? {
    guard isNeeded else { return nil }
    guard index < 4, let table = tables[Int(index)] else { throw markers.damaged("there is no Huffman table \(index)") }
    return table
  }
}
