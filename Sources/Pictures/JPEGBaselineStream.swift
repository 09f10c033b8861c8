internal import CJPEGRows

/// Merged scans as the one scan of an ordinary JPEG file, made while it is read: it never exists as a whole.
///
/// So everything behind the coefficients stays libjpeg's: inverse transforms at every scale, smoothing, colours.
final class JPEGBaselineStream: PositionedSource {
  let name: String
  let byteCount: Int? = nil

  private let merged: JPEGMergedScans
  private let encoder: UnsafeMutablePointer<cjr_encoder>
  /// What precedes the pixels, as far as it has not been read.
  private var head: ArraySlice<UInt8>
  private let columns: Int
  private var column: Int
  private var isAtEnd = false

  /// The bytes that this takes.
  static let byteCount = MemoryLayout<cjr_encoder>.size + (2 << 10)

  init(_ merged: JPEGMergedScans, header: JPEGHeader) {
    self.merged = merged
    name = merged.name
    encoder = .allocate(capacity: 1)
    var tables = [UInt8](repeating: 0, count: Int(CJR_TABLES_BYTES))
    cjr_encode_begin(encoder, &tables)
    head = Self.head(header, merged.quantization, tables)[...]
    columns = Int(merged.frame.pointee.columns)
    column = columns
  }

  deinit {
    encoder.deallocate()
  }

  /// Makes the next bytes. They are asked for front to back, and never twice.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws -> Int {
    if !head.isEmpty {
      let piece = head.prefix(buffer.count)
      buffer.copyBytes(from: piece)
      head = head.dropFirst(piece.count)
      return piece.count
    }
    let target = buffer.bindMemory(to: UInt8.self).baseAddress!
    var count = 0
    while !isAtEnd, buffer.count - count >= Int(CJR_MOST_MCU_BYTES) {
      if column == columns {
        guard try merged.nextRow() else {
          // Where damage has ended the picture, the stream ends too, without a mark: it is cut off.
          if merged.isWhole { count += cjr_encode_end(encoder, target + count) }
          isAtEnd = true
          break
        }
        column = 0
      }
      let length = cjr_encode_mcu(encoder, merged.frame, UInt32(column), target + count)
      guard length >= 0 else { throw merged.coefficientOutOfRange }
      count += length
      column += 1
    }
    return count
  }

  /// The segments before the pixels (ITU-T T.81, B.2). Each component has a quantisation table of its own, of numbers of 16
  /// bits, which an extended sequential frame may have.
  private static func head(_ header: JPEGHeader, _ quantization: [[UInt16]], _ tables: [UInt8]) -> [UInt8] {
    func number(_ value: Int) -> [UInt8] { [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)] }
    func segment(_ code: UInt8, _ data: [UInt8]) -> [UInt8] { [0xff, code] + number(data.count + 2) + data }
    var bytes: [UInt8] = [0xff, JPEGMarkers.Code.start]
    for (index, table) in quantization.enumerated() {
      bytes += segment(JPEGMarkers.Code.quantization, [0x10 | UInt8(index)] + table.flatMap { number(Int($0)) })
    }
    let frame = header.components.enumerated().flatMap { index, component -> [UInt8] in
      [UInt8(index + 1), UInt8(component.across << 4 | component.down), UInt8(index)]
    }
    let count = UInt8(header.components.count)
    let size = number(header.height) + number(header.width)
    bytes += segment(0xc1, [8] + size + [count] + frame)
    bytes += tables
    let scan = (1...count).flatMap { [$0, 0] as [UInt8] }
    bytes += segment(JPEGMarkers.Code.scan, [count] + scan + ([0, 63, 0] as [UInt8]))
    return bytes
  }
}
