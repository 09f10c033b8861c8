extension JPEGHeader {
  /// Reads the ICC profile of the picture that `source` holds, `profileByteCount` bytes; nil if it has none.
  ///
  /// A profile lies in segments that say which part of it they are, in any order (ICC.1:2010, B.4). Where parts are
  /// missing or there twice, it is as if there were none: what is beside the pixels cannot make them unreadable.
  ///
  /// - Parameter limit: The most bytes that it may have.
  /// - Throws: `PictureError.unsupported` for a larger one, others as `init(_:limits:)` does, and whatever `source`
  ///   throws.
  public func profile(from source: any PositionedSource, limit: Int = 4 << 20) throws -> [UInt8]? {
    guard profileByteCount > 0 else { return nil }
    guard profileByteCount <= limit else {
      throw PictureError.unsupported(file: source.name, kind: "a colour profile of \(profileByteCount) bytes")
    }
    return try withUnsafeTemporaryAllocation(byteCount: JPEGMarkers.leastWindowByteCount, alignment: 16) { window in
      let markers = try JPEGMarkers(source, window: window)
      var parts: [UInt8: [UInt8]] = [:]
      var partCount = 0
      var isSound = true
      while true {
        let code = try markers.begin()
        if code == JPEGMarkers.Code.scan || code == JPEGMarkers.Code.end { break }
        guard code == JPEGMarkers.Code.profile, try markers.takeName("ICC_PROFILE\0"), markers.remaining >= 2 else {
          continue
        }
        let number = try markers.takeByte()
        partCount = Int(try markers.takeByte())
        isSound = isSound && parts[number] == nil
        parts[number] = try markers.takeRest()
      }
      guard isSound, partCount > 0, parts.count == partCount, parts.keys.min() == 1 else { return nil }
      return (1...partCount).flatMap { parts[UInt8($0)] ?? [] }
    }
  }
}
