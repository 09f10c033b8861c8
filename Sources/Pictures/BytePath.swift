/// The path of a file, as the bytes the operating system knows it by.
///
/// A file name on Linux is any bytes but zero and `/`. `String` would replace what is not UTF-8, and the file could
/// no longer be opened, so bytes go through untouched and text is made only for people to read.
public struct BytePath: Sendable, Hashable {
  /// The bytes of the path, without a terminating zero.
  public let bytes: [UInt8]

  /// Makes a path of raw bytes.
  ///
  /// - Precondition: No byte is zero; what follows a zero would silently be cut off.
  public init(bytes: [UInt8]) {
    precondition(!bytes.contains(0), "a path cannot hold a zero byte")
    self.bytes = bytes
  }

  /// Makes a path of the UTF-8 bytes of a string.
  public init(_ string: String) {
    self.init(bytes: Array(string.utf8))
  }

  /// Calls `body` with the path as a C string, valid during the call only.
  public func withCString<Result>(_ body: (UnsafePointer<CChar>) throws -> Result) rethrows -> Result {
    try (bytes + [0]).withUnsafeBytes { raw in
      try raw.withMemoryRebound(to: CChar.self) { characters in
        // An array that holds at least the terminating zero has a base address.
        try body(characters.baseAddress!)
      }
    }
  }
}

extension BytePath: ExpressibleByStringLiteral {
  /// Makes a path of the UTF-8 bytes of a literal.
  public init(stringLiteral value: String) {
    self.init(value)
  }
}

extension BytePath: CustomStringConvertible {
  /// The path as text, with a replacement character for every byte that is not UTF-8.
  public var description: String {
    String(decoding: bytes, as: UTF8.self)
  }
}
