import CHeap
import Pictures

/// What reading and writing rows takes of the heap, beside what the library says that it takes.
enum Memory {
  private static let width = 4_000

  static func print() throws {
    Swift.print("\nBytes of the heap, and what is stated")
    let file = try Photo(width: width, height: 20).file
    let header = try PNGHeader(BytesSource(file))
    for (name, inflater) in [("PNGRows, fast", PNGRowReader.Inflater.fast), ("PNGRows, small", .small)] {
      let scratch = PNGRowScratch(byteCount: PNGRows.scratchByteCount(for: header, format: .rgba8))
      let source = BytesSource(file)
      let before = used()
      let reader = try PNGRows(header: header, format: .rgba8, inflater: inflater, scratch: scratch) { source }
      for _ in 0..<10 { _ = try reader.nextRow(scratch) }
      line(
        "\(name), \(width) pixels a row", used() - before,
        PNGRows.byteCount(for: header, format: .rgba8, inflater: inflater))
      withExtendedLifetime(reader) {}
    }
    for width in [100, width] {
      let row = [UInt8](repeating: 100, count: 4 * width)
      let sink = Nowhere()
      let before = used()
      let writer = try PNGWriter(width: width, height: 20, to: sink)
      for _ in 0..<10 { try writer.write(row: row.span.bytes, alpha: .straight) }
      line("PNGWriter, \(width) pixels a row", used() - before, PNGWriter.byteCount(width: width))
      withExtendedLifetime(writer) {}
    }
  }

  private static func line(_ name: String, _ measured: Int, _ stated: Int) {
    Swift.print("\(name): \(measured), \(stated) stated")
  }

  private static func used() -> Int {
    let info = mallinfo2()
    return Int(info.uordblks + info.hblkhd)
  }
}

/// Drops what is written.
private final class Nowhere: PictureSink {
  let name = "nowhere"
  func write(_ buffer: UnsafeRawBufferPointer) {}
}
