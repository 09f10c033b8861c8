/// A part of an archive's file in memory.
struct FileBytes {
  /// Where in the file it begins.
  let position: Int
  private let bytes: [UInt8]

  /// How many bytes there are.
  var count: Int { bytes.count }

  /// Reads `count` bytes from `position` on.
  ///
  /// - Throws: `CardError.cannotRead`, also where the file ends before that.
  init(_ file: ArchiveFile, at position: Int, count: Int) throws(CardError) {
    self.position = position
    var failure: CardError?
    bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      do throws(CardError) {
        filled = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: position)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    guard bytes.count == count else { throw .cannotRead(file: file.name, reason: "it ends early") }
  }

  /// Reads the last `most` bytes of a file, or all that it has.
  init(_ file: ArchiveFile, last most: Int) throws(CardError) {
    let count = min(most, file.byteCount)
    try self.init(file, at: file.byteCount - count, count: count)
  }

  /// Whether the mark of a record stands at `offset`: PK and two more bytes.
  func hasMark(_ first: UInt8, _ second: UInt8, at offset: Int) -> Bool {
    bytes[offset] == 0x50 && bytes[offset + 1] == 0x4b && bytes[offset + 2] == first && bytes[offset + 3] == second
  }

  func short(at offset: Int) -> Int { bytes.withUnsafeBytes { LittleEndian.short($0, at: offset) } }
  func word(at offset: Int) -> UInt32 { bytes.withUnsafeBytes { LittleEndian.word($0, at: offset) } }
  func long(at offset: Int) -> Int { bytes.withUnsafeBytes { LittleEndian.long($0, at: offset) } }
  func array(_ offset: Int, count: Int) -> [UInt8] { Array(bytes[offset..<offset + count]) }
}
