internal import CJPEGRows

/// A Huffman table, shared by the scans that use it.
final class JPEGHuffmanTable {
  let table: UnsafeMutablePointer<cjr_table>

  /// The bytes of one, the object included.
  static let byteCount = MemoryLayout<cjr_table>.size + 64

  /// Takes a table out of a segment, behind the byte that says which it is (ITU-T T.81, B.2.4.2).
  init(_ markers: JPEGMarkers) throws {
    let counts = Array(try markers.takeData(16))
    let total = counts.reduce(0) { $0 + Int($1) }
    guard total <= 256 else { throw markers.damaged("a Huffman table has \(total) codes") }
    var symbols = [UInt8](repeating: 0, count: 256)
    symbols.replaceSubrange(..<total, with: try markers.takeData(total))
    table = .allocate(capacity: 1)
    guard cjr_table_make(table, counts, symbols) else {
      throw markers.damaged("a Huffman table has more codes than there can be")
    }
  }

  deinit {
    table.deallocate()
  }
}

/// The tables that a JPEG file has defined so far; scans use those that are valid where they begin.
struct JPEGTables {
  private(set) var dc = [JPEGHuffmanTable?](repeating: nil, count: 4)
  private(set) var ac = [JPEGHuffmanTable?](repeating: nil, count: 4)
  /// 64 numbers each, in zigzag order.
  private(set) var quantization = [[UInt16]?](repeating: nil, count: 4)
  /// Units of blocks between restarts, 0 for none.
  private(set) var restartInterval = 0

  /// Takes what a segment defines; false if that is nothing of this.
  mutating func take(_ code: UInt8, _ markers: JPEGMarkers) throws -> Bool {
    switch code {
    case JPEGMarkers.Code.huffman:
      while markers.remaining > 0 {
        let place = try markers.takeByte()
        guard place & 0xef < 4 else { throw markers.damaged("there is no Huffman table \(place)") }
        let table = try JPEGHuffmanTable(markers)
        if place & 0x10 == 0 { dc[Int(place)] = table } else { ac[Int(place & 3)] = table }
      }
    case JPEGMarkers.Code.quantization:
      while markers.remaining > 0 {
        let place = try markers.takeByte()
        guard place & 15 < 4, place >> 4 < 2 else { throw markers.damaged("there is no quantisation table \(place)") }
        quantization[Int(place & 15)] = try (0..<64).map { _ in
          UInt16(place >> 4 == 0 ? Int(try markers.takeByte()) : try markers.takeNumber())
        }
      }
    case JPEGMarkers.Code.restartInterval: restartInterval = try markers.takeNumber()
    default: return false
    }
    return true
  }
}
