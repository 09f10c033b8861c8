internal import CZip
internal import Pictures

/// A PNG picture that an archive pulls out of a row maker while it is written.
///
/// An encoder pushes and libzip pulls; between them stands a buffer of what one or two rows came to, so that neither
/// the pixels nor the compressed picture is ever in memory as a whole.
final class PictureEntry: PictureSink {
  /// Makes the rows of a picture, from the top: fills in 8-bit RGBA with straight alpha, once for each row.
  typealias RowMaker = (_ row: inout [UInt8]) throws -> Void

  let name: String
  private let width: Int
  private let height: Int
  /// Makes a row maker that begins at the first row.
  private let begin: () throws -> RowMaker
  private var writer: PNGWriter?
  private var makeRow: RowMaker?
  private var row: [UInt8]
  private var encoded: [UInt8] = []
  private var taken = 0
  private var error = zip_error_t()
  /// What went wrong while libzip was reading.
  private(set) var failure: (any Error)?

  /// Weaker than for final pictures: documents are written again and again.
  private static let compressionLevel = 3

  init(name: String, width: Int, height: Int, rows begin: @escaping () throws -> RowMaker) {
    self.name = name
    self.width = width
    self.height = height
    self.begin = begin
    row = [UInt8](repeating: 0, count: 4 * width)
  }

  func write(_ buffer: UnsafeRawBufferPointer) {
    encoded.append(contentsOf: buffer)
  }

  /// Makes what libzip reads from; it keeps this object until it needs it no more.
  func makeSource() -> OpaquePointer? {
    zip_source_function_create(
      { user, data, length, command in
        guard let user else { return -1 }
        let entry = Unmanaged<PictureEntry>.fromOpaque(user)
        if command == ZIP_SOURCE_FREE {
          entry.release()
          return 0
        }
        return entry.takeUnretainedValue().perform(
          command, UnsafeMutableRawBufferPointer(start: data, count: Int(length)))
      },
      Unmanaged.passRetained(self).toOpaque(), nil)
  }

  private func perform(_ command: zip_source_cmd_t, _ data: UnsafeMutableRawBufferPointer) -> Int64 {
    do {
      switch command {
      case ZIP_SOURCE_OPEN:
        encoded = []
        taken = 0
        makeRow = try begin()
        writer = try PNGWriter(
          width: width, height: height, to: self, compressionLevel: Self.compressionLevel)
        return 0
      case ZIP_SOURCE_READ: return Int64(try read(into: data))
      case ZIP_SOURCE_CLOSE:
        writer = nil
        makeRow = nil
        return 0
      case ZIP_SOURCE_STAT:
        // Size and checksum are not known before they have been made.
        guard let status = data.bindMemory(to: zip_stat_t.self).baseAddress else { return -1 }
        zip_stat_init(status)
        return Int64(MemoryLayout<zip_stat_t>.size)
      case ZIP_SOURCE_ERROR: return zip_error_to_data(&error, data.baseAddress!, UInt64(data.count))
      case ZIP_SOURCE_SUPPORTS: return Self.supportedCommands
      default:
        zip_error_set(&error, ZIP_ER_OPNOTSUPP, 0)
        return -1
      }
    } catch {
      failure = error
      zip_error_set(&self.error, ZIP_ER_READ, 0)
      return -1
    }
  }

  private static let supportedCommands: Int64 = [
    ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE,
    ZIP_SOURCE_SUPPORTS,
  ].reduce(0) { $0 | 1 << Int64($1.rawValue) }

  private func read(into data: UnsafeMutableRawBufferPointer) throws -> Int {
    while encoded.count - taken < data.count, let writer, let makeRow, !writer.isComplete {
      encoded.removeFirst(taken)
      taken = 0
      try makeRow(&row)
      try row.withUnsafeBytes { try writer.write(row: $0.bytes, alpha: .straight) }
    }
    let count = min(data.count, encoded.count - taken)
    data.copyBytes(from: encoded[taken..<taken + count])
    taken += count
    return count
  }
}
