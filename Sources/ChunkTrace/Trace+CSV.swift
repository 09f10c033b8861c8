extension Trace {
  /// Reads CSV whose first line names columns: `id` and `size` (bytes), and `cost_us` or `cost_ns` if it is known.
  ///
  /// An `id` is a whole number; other columns are passed over. An empty cost is 0.
  ///
  /// - Parameters:
  ///   - file: what to call it in errors.
  ///   - salvage: takes what stands before the first line that makes no sense for the whole.
  /// - Throws: `TraceError`, with the offset of the line that makes no sense.
  public init(csv bytes: [UInt8], file: String, salvage: Bool = false) throws(TraceError) {
    self.init()
    var lines = CSVLines(bytes)
    guard let header = lines.next() else { throw .empty(file: file) }
    let names = header.fields.map { String(decoding: $0, as: UTF8.self) }
    guard let id = names.firstIndex(of: "id"), let size = names.firstIndex(of: "size") else {
      throw .foreign(file: file)
    }
    let micros = names.firstIndex(of: "cost_us")
    let cost = micros ?? names.firstIndex(of: "cost_ns")
    while let line = lines.next() {
      do throws(LineProblem) {
        guard line.fields.count == names.count else { throw LineProblem("it has not as many fields as the first line") }
        let costText = cost.map { line.fields[$0] } ?? []
        let costNumber = costText.isEmpty ? 0 : try number(costText, "cost", upTo: UInt64.max / 1_000_000)
        append(
          key: try number(line.fields[id], "id", upTo: .max),
          size: Int(try number(line.fields[size], "size", upTo: 1 << 50)),
          cost: micros != nil ? costNumber * 1_000 : costNumber)
      } catch {
        if salvage { return }
        throw .damaged(file: file, offset: line.offset, reason: error.text)
      }
    }
  }

  private func number(_ field: ArraySlice<UInt8>, _ name: String, upTo most: UInt64) throws(LineProblem) -> UInt64 {
    let text = String(decoding: field, as: UTF8.self)
    // Costs of other programs have decimals.
    let whole = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let number = UInt64(whole[0]), number <= most, whole.count == 1 || UInt64(whole[1]) != nil else {
      throw LineProblem("its \(name) is no whole number up to \(most)")
    }
    return number
  }

  /// Writes CSV with the columns `seq,id,size,cost_us`. Costs are rounded to whole microseconds.
  ///
  /// There is no place for what objects need: it is left out. `flattened(budget:)` makes requests of it.
  public var csv: String {
    var text = "seq,id,size,cost_us\n"
    for (index, object) in requests.enumerated() {
      let known = objects[Int(object)]
      text += "\(index),\(known.key),\(known.size),\((known.cost + 500) / 1_000)\n"
    }
    return text
  }
}

private struct LineProblem: Error {
  let text: String
  init(_ text: String) { self.text = text }
}

/// The lines of a file, taken apart at commas. Quotes are not known: no column that is read here has any.
private struct CSVLines {
  struct Line {
    var offset: Int
    var fields: [ArraySlice<UInt8>]
  }

  private let bytes: [UInt8]
  private var offset = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func next() -> Line? {
    while offset < bytes.count {
      let start = offset
      var end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
      offset = end + 1
      if end > start, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
      if end > start {
        let fields = bytes[start..<end].split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        return Line(offset: start, fields: fields)
      }
    }
    return nil
  }
}
