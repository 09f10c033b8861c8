internal import CJPEGRows

/// libjpeg, reading from a source: results become errors that name the file, and what the source throws gets through.
final class JPEGDecoder {
  private let input: JPEGInput
  private let memory: UnsafeMutableRawBufferPointer
  private var decoder: OpaquePointer { OpaquePointer(memory.baseAddress!) }

  /// Bytes of a decoder, with libjpeg's own at most for such a picture.
  ///
  /// libjpeg's are those of its rows and tables, and what it takes at a time for many small things. The test "what a
  /// reader takes is foretold" compares them with what it really takes.
  static func byteCount(for header: JPEGHeader, scale: JPEGScale) -> Int {
    windowByteCount + libraryByteCount(for: header, scale: scale)
  }

  /// Bytes of a decoder without libjpeg's own.
  static var windowByteCount: Int { cjr_decoder_byte_count() }

  private static func libraryByteCount(for header: JPEGHeader, scale: JPEGScale) -> Int {
    let geometry = JPEGGeometry(header)
    // Rows begin at vectors, and there are pointers to each.
    let rowOverhead = 128
    return header.components.reduce(tablesByteCount) { sum, component in
      let samples = geometry.samples(component, scale)
      let rowByteCount = geometry.blocks(component).width * samples + rowOverhead
      // Those of a row of blocks and, where they are smoothed, of its neighbours' edges.
      let rows = max(1, component.down * samples / scale.eighths) * (scale.eighths + 2)
      let enlarged = geometry.mostDown * (scale.scaled(header.width) + rowOverhead)
      return sum + rows * rowByteCount + enlarged
    }
  }

  private static let tablesByteCount = 64 << 10

  /// Begins to decode what `source` holds, up to the first row.
  init(_ source: any PositionedSource, header: JPEGHeader, scale: JPEGScale, damage: DamagePolicy) throws {
    input = JPEGInput(source)
    if let problem = cjr_library_problem() {
      throw PictureError.libraryMissing(file: source.name, library: "libjpeg", reason: String(cString: problem))
    }
    memory = .allocate(byteCount: cjr_decoder_byte_count(), alignment: 16)
    var job = cjr_job()
    (job.user, job.read) = (input.user, JPEGInput.read)
    job.colors = header.colors.kind
    job.is_inverted = header.isInverted
    (job.width, job.height) = (UInt32(header.width), UInt32(header.height))
    job.component_count = UInt32(header.components.count)
    job.eighths = UInt32(scale.eighths)
    job.is_strict = damage == .refuse
    job.most_bytes = Self.libraryByteCount(for: header, scale: scale)
    let result = cjr_begin(memory.baseAddress, &job)
    guard result == CJR_DONE else {
      let error = self.error(result, place: "what precedes the pixels")
      // The initialiser has set everything, so `deinit` ends the decoder.
      throw error
    }
    assert(cjr_width(decoder) == scale.scaled(header.width) && cjr_height(decoder) == scale.scaled(header.height))
  }

  deinit {
    cjr_end(decoder)
    memory.deallocate()
  }

  /// The bytes that libjpeg has taken so far.
  var takenByteCount: Int { cjr_taken_byte_count(decoder) }

  /// What libjpeg said of damage that it passed over; nil if there was none.
  var complaint: String? {
    let message = cjr_message(decoder)!
    return message.pointee == 0 ? nil : String(cString: message)
  }

  /// Decodes the next row. `place` says where in errors.
  func decodeRow(into row: UnsafeMutableRawBufferPointer, place: @autoclosure () -> String) throws {
    let result = cjr_row(decoder, row.bindMemory(to: UInt8.self).baseAddress)
    guard result == CJR_DONE else { throw error(result, place: place()) }
  }

  private func error(_ result: cjr_result, place: String) -> any Error {
    let file = input.source.name
    switch result {
    case CJR_READ_FAILED:
      // Kept when it was thrown.
      return input.failure!
    case CJR_CUT_OFF: return PictureError.truncated(file: file, place: place)
    case CJR_CHANGED: return PictureError.changed(file: file)
    case CJR_NO_MEMORY: return PictureError.cannotRead(file: file, reason: complaint ?? "no memory for a decoder")
    default: return PictureError.damaged(file: file, place: place, reason: complaint ?? "libjpeg gives no reason")
    }
  }
}

extension JPEGHeader.Colors {
  fileprivate var kind: cjr_colors {
    switch self {
    case .grayscale: CJR_GRAY
    case .ycc: CJR_YCC
    case .rgb: CJR_RGB
    case .cmyk: CJR_CMYK
    case .ycck: CJR_YCCK
    }
  }
}
