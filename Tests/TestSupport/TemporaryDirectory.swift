// Darwin and Musl are not run here.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A directory of its own for one test, removed with its files when the test lets go of it.
public final class TemporaryDirectory: Sendable {
  /// The directory's path, without a slash at its end.
  public let path: String

  /// Makes an empty directory.
  public init() {
    var template = Array("/tmp/memchunk-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { fatalError("no temporary directory can be made") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    // By their bytes: a test may have used names that are no text.
    forEachName { name in
      _ = (Array("\(path)/".utf8CString.dropLast()) + name + [0]).withUnsafeBufferPointer { unlink($0.baseAddress!) }
    }
    rmdir(path)
  }

  /// The path of a file in the directory.
  public func file(_ name: String) -> String { "\(path)/\(name)" }

  /// The names of the files in the directory, in order.
  public var fileNames: [String] {
    var names: [String] = []
    forEachName { names.append(String(decoding: $0.map { UInt8(bitPattern: $0) }, as: UTF8.self)) }
    return names.sorted()
  }

  private func forEachName(_ body: ([CChar]) -> Void) {
    guard let directory = opendir(path) else { return }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.bindMemory(to: CChar.self).prefix { $0 != 0 }) }
      if name.first != CChar(bitPattern: UInt8(ascii: ".")) || name.count > 2 { body(name) }
    }
  }
}

/// All the bytes of a file, nil if there is none.
public func readFile(_ path: String) -> [UInt8]? {
  guard let file = fopen(path, "rb") else { return nil }
  defer { fclose(file) }
  var bytes: [UInt8] = []
  var piece = [UInt8](repeating: 0, count: 65_536)
  while true {
    let count = fread(&piece, 1, piece.count, file)
    if count == 0 { return bytes }
    bytes += piece[..<count]
  }
}

/// Makes a file of the given bytes.
public func writeFile(_ path: String, _ bytes: [UInt8]) {
  guard let file = fopen(path, "wb") else { fatalError("\(path) cannot be made") }
  defer { fclose(file) }
  guard fwrite(bytes, 1, bytes.count, file) == bytes.count else { fatalError("\(path) cannot be written") }
}
