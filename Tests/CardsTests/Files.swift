import Pictures
import TestSupport

extension ArchiveMaker {
  /// Makes a file of the document.
  func write(to path: String) {
    writeFile(path, file)
  }
}

/// The pixels of a PNG file, 8-bit RGBA with straight alpha.
func readPNG(_ path: String) throws -> (width: Int, height: Int, pixels: [UInt8]) {
  try decode(FileSource(BytePath(path)))
}
