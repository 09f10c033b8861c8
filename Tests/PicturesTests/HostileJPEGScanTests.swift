import JPEGReference
import Pictures
import TestSupport
import Testing

@Suite struct HostileJPEGScanTests {
  private let file: [UInt8] = {
    var maker = JPEGMaker(width: 101, height: 67)
    maker.sampling = [(2, 2), (1, 1), (1, 1)]
    maker.isProgressive = true
    return maker.encode()
  }()

  /// Where the segments of scans begin.
  private var scans: [Int] { file.indices.dropLast().filter { file[$0] == 0xff && file[$0 + 1] == 0xda } }

  private func expectError(_ file: [UInt8], _ reason: String, location: SourceLocation = #_sourceLocation) {
    let error = #expect(throws: PictureError.self, sourceLocation: location) { _ = try readJPEG(file) }
    let text = "\(String(describing: error))"
    #expect(text.contains(reason), sourceLocation: location)
  }

  @Test("case 47: a file cut off anywhere is an error naming the file")
  func cutOffAnywhere() throws {
    for count in stride(from: 0, to: file.count, by: 13) {
      let error = #expect(throws: PictureError.self, "cut off after \(count) bytes") {
        _ = try readJPEG(Array(file[..<count]))
      }
      #expect("\(try #require(error))".hasPrefix("picture.jpg: "))
    }
  }

  @Test(
    "case 47: a byte changed anywhere is an error, or another picture of the same size",
    arguments: [
      DamagePolicy.refuse, .showWhatThereIs,
    ])
  func changedAnywhere(damage: DamagePolicy) throws {
    for index in stride(from: 0, to: file.count, by: 11) {
      var bytes = file
      bytes[index] ^= 0x55
      do {
        let source = BytesSource(bytes), header = try JPEGHeader(source)
        let pixels = try readRows(JPEGRows(source, header: header, damage: damage))
        #expect(pixels.count == 4 * header.width * header.height)
      } catch {
        #expect(error is PictureError, "byte \(index)")
      }
    }
  }

  @Test func whatThereIsOfACutFileIsShownOnRequestWithAWarning() throws {
    let whole = try readJPEG(file)
    // The first scan is there, and a part of the second.
    let cut = Array(file[..<(scans[1] + 60)])
    let source = BytesSource(cut, name: "picture.jpg")
    let rows = try JPEGRows(source, header: JPEGHeader(source), damage: .showWhatThereIs)
    let pixels = try readRows(rows)
    guard case .truncated("picture.jpg", _) = rows.warning else {
      Issue.record("\(String(describing: rows.warning))")
      return
    }
    #expect(stride(from: 3, to: pixels.count, by: 4).allSatisfy { pixels[$0] == 255 }, "every pixel is there")
    let differences = zip(pixels, whole).map { abs(Int($0) - Int($1)) }
    #expect(differences.reduce(0, +) / differences.count < 40, "though not as fine")
  }

  @Test func ofAFirstScanThatIsCutTheRowsAreShownThatItHas() throws {
    let source = BytesSource(Array(file[..<(scans[0] + 40)]), name: "picture.jpg")
    let rows = try JPEGRows(source, header: JPEGHeader(source), damage: .showWhatThereIs)
    let pixels = try readRows(rows)
    #expect(pixels.prefix(4 * 101)[3] == 255 && pixels.suffix(4 * 101).allSatisfy { $0 == 0 })
    #expect(rows.warning != nil)
  }

  @Test func scansMustFollowOnEachOther() throws {
    let parts = zip(scans, scans.dropFirst() + [file.count - 2]).map { Array(file[$0..<$1]) }
    let head = Array(file[..<scans[0]])
    func joined(_ order: [Int]) -> [UInt8] { head + order.flatMap { parts[$0] } + JPEGPieces.end }
    let all = Array(parts.indices)
    #expect(try readJPEG(joined(all)) == readJPEG(file))
    expectError(joined([0, 0] + all.dropFirst()), "follow on each other")
    // Without the first scan, but with the tables that stand behind it.
    let tables = try #require(parts[0].indices.dropLast().first { parts[0][$0] == 0xff && parts[0][$0 + 1] == 0xc4 })
    expectError(head + parts[0][tables...] + parts[1...].joined() + JPEGPieces.end, "missing")
    expectError(joined(all + [all.last!]), "follow on each other")
    expectError(head + JPEGPieces.end, "no pixels")
  }

  @Test func scansMustMakeSense() {
    func expect(_ change: (inout [UInt8]) -> Void, _ reason: String) {
      var bytes = file
      change(&bytes)
      expectError(bytes, reason)
    }
    let first = scans[0], second = scans[1]
    expect({ $0[first + 4] = 5 }, "5 components")
    expect({ $0[first + 5] = 9 }, "component 9")
    expect({ $0[first + 7] = $0[first + 5] }, "component 1")
    expect({ $0[first + 12] = 3 }, "coefficients 0 to 3")
    expect(
      {
        $0[second + 7] = 9; $0[second + 8] = 2
      }, "coefficients 9 to 2")
    expect({ $0[second + 6] = 0x03 }, "no Huffman table 3")
  }

  @Test func moreThanAHundredScansAreRefused() throws {
    var maker = JPEGMaker(width: 16, height: 16, colors: JREF_GRAY)
    let dc = JPEGMaker.scan([0], 0...0, bits: 0, 0)
    // Each coefficient in a scan of its own, and half of them in two.
    func scans(_ count: Int) -> [jref_scan] {
      let finer = (1...Int32(count - 64)).map { JPEGMaker.scan([0], $0...$0, bits: 1, 0) }
      let firsts = (1...Int32(63)).map { JPEGMaker.scan([0], $0...$0, bits: 0, $0 <= count - 64 ? 1 : 0) }
      return [dc] + firsts + finer
    }
    maker.scans = scans(100)
    let hundred = maker.encode()
    #expect(try readJPEG(hundred) == JPEGReferencePicture(hundred).pixels)
    maker.scans = scans(101)
    expectError(maker.encode(), "more than 100 scans")
  }

  @Test("case 46: a tiny file that claims 20000 x 20000 is refused before a row is decoded")
  func tinyFileOfAHugePicture() throws {
    var maker = JPEGMaker(width: 16, height: 16)
    maker.isProgressive = true
    var bytes = maker.encode()
    let frame = try #require(bytes.indices.first { bytes[$0] == 0xff && bytes[$0 + 1] == 0xc2 })
    bytes.replaceSubrange(frame + 5..<frame + 9, with: JPEGPieces.number(20_000) + JPEGPieces.number(20_000))
    let source = BytesSource(bytes, name: "tiny.jpg"), header = try JPEGHeader(source)
    let error = #expect(throws: PictureError.self) { try JPEGRows(source, header: header) }
    #expect("\(try #require(error))".contains("20000 x 20000"))
    // Enough bytes, but not in the scan that needs them.
    let padded = BytesSource(bytes.dropLast(2) + Array(repeating: 0, count: 3_000_000) + JPEGPieces.end)
    let other = #expect(throws: PictureError.self) { try JPEGRows(padded, header: header) }
    #expect("\(try #require(other))".contains("20000 x 20000"))
  }
}
