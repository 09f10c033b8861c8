import MemChunks
import Pictures
import TestSupport
import Testing

/// Files by other programs; skipped where the samples are not there.
@Suite(.enabled(if: SampleFiles.areThere, "the sample files are not beside the package")) struct JPEGSampleTests {
  private func bytes(_ name: String) throws -> [UInt8] { try #require(readFile(SampleFiles.path(name))) }

  /// Pixels of a file that another program has decoded.
  private func expected(_ name: String) throws -> [UInt8] {
    try decode(FileSource(BytePath(SampleFiles.path("jpeg/\(name).png"))))
  }

  @Test(
    "within 2/255 of djpeg, inks within 3/255 of the formula, at several scales",
    arguments: [
      "grayscale_square", "hopper", "hopper_orientation_3", "hopper_orientation_6", "hopper_orientation_8",
      "pil_sample_cmyk", "progressive3", "ycck",
    ])
  func decodes(name: String) throws {
    let file = try bytes("jpeg/\(name).jpg")
    let header = try JPEGHeader(BytesSource(file))
    let most = header.colors == .cmyk || header.colors == .ycck ? 3 : 2
    for eighths in [1, 3, 8] {
      let scale = JPEGScale(eighths: eighths)
      let difference = try largestDifference(readJPEG(file, scale), JPEGReferencePicture(file, scale).pixels)
      #expect(try #require(difference) <= most, "at \(eighths) eighths")
    }
  }

  @Test(arguments: ["grayscale_square", "progressive3"])
  func isWhatAnotherProgramMakesOfIt(name: String) throws {
    let difference = try largestDifference(readJPEG(bytes("jpeg/\(name).jpg")), expected(name))
    #expect(try #require(difference) <= 2)
  }

  @Test func headersSayWhatIsThere() throws {
    func header(_ name: String) throws -> JPEGHeader {
      try JPEGHeader(FileSource(BytePath(SampleFiles.path("jpeg/\(name).jpg"))))
    }
    #expect(try header("hopper_orientation_3").orientation == .halfTurned)
    #expect(try header("hopper_orientation_6").orientation == .needsQuarterRight)
    #expect(try header("hopper_orientation_8").orientation == .needsQuarterLeft)
    #expect(try header("hopper").orientation == .upright)
    #expect(try header("progressive3").isProgressive)
    #expect(try header("ycck").colors == .ycck && header("ycck").adobeTransform == 2)
    #expect(try header("pil_sample_cmyk").colors == .ycck)
    #expect(try header("grayscale_square").colors == .grayscale)
  }

  @Test("case 48: turned samples look like the one that is not", arguments: [3, 6, 8])
  func orientations(_ value: Int) throws {
    let pool = ChunkPool(budget: .megabytes(4))
    let path = BytePath(SampleFiles.path("jpeg/hopper_orientation_\(value).jpg"))
    let upright = try readRows(UprightRows(.jpeg(path), in: pool, label: "hopper"))
    let expected = try readJPEG(bytes("jpeg/hopper.jpg"))
    #expect(upright.count == expected.count)
    // Coded anew after it was turned, at another quality.
    let differences = zip(upright, expected).map { abs(Int($0) - Int($1)) }
    #expect(differences.reduce(0, +) / differences.count < 4)
  }

  @Test("case 47: a truncated sample is refused, naming file and place, and shown in part on request")
  func truncated() throws {
    let path = SampleFiles.path("corrupt/truncated_jpeg.jpg")
    let source = try FileSource(BytePath(path)), header = try JPEGHeader(source)
    let error = #expect(throws: PictureError.self) { try readRows(JPEGRows(source, header: header)) }
    #expect("\(try #require(error))".hasPrefix("\(path): the file ends early, in "))
    let rows = try JPEGRows(source, header: header, damage: .showWhatThereIs)
    let pixels = try readRows(rows)
    #expect(pixels.count == 4 * header.width * header.height && rows.warning != nil)
  }

  @Test func progressiveCoefficientsAreTheLibrarys() throws {
    let file = try bytes("jpeg/progressive3.jpg")
    for component in 0..<3 {
      let isEqual =
        try JPEGScanTests.coefficients(file, component) == JPEGScanTests.expectedCoefficients(file, component)
      #expect(isEqual)
    }
  }
}
