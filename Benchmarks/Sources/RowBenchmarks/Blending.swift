import CRowBlend

/// Laying as many rows over a plane as the photo has, a value at a time and with vectors.
struct Blending {
  /// What a layer's rows are.
  enum Alpha: String, CaseIterable {
    case mixed, opaque, transparent
  }

  private let pixels: [UInt8]
  private let wide: [UInt16]
  private let plane: [UInt16]
  private let opacity: UInt16
  private let target: UnsafeMutableBufferPointer<UInt16>
  private let result: UnsafeMutableBufferPointer<UInt8>

  /// - Parameter alpha: Of the layer, which is shown at an opacity of 1 unless it is mixed.
  init(_ alpha: Alpha) {
    var seed: UInt32 = 1
    pixels = (0..<4 * Photo.side).map { index in
      seed = seed &* 1_664_525 &+ 1_013_904_223
      guard index % 4 == 3 else { return UInt8(seed >> 24) }
      return alpha == .mixed ? UInt8(seed >> 24) : alpha == .opaque ? 255 : 0
    }
    wide = pixels.map { UInt16($0) * 257 }
    opacity = alpha == .mixed ? 45_000 : 65_535
    // The layer itself, premultiplied, laid over nothing.
    var plane = [UInt16](repeating: 0, count: 4 * Photo.side)
    crb_over_8(pixels, Photo.side, 65_535, &plane)
    self.plane = plane
    target = .allocate(capacity: plane.count)
    _ = target.initialize(from: plane)
    result = .allocate(capacity: plane.count)
    result.initialize(repeating: 0)
  }

  private func rows(_ body: (UnsafeMutablePointer<UInt16>) -> Void) -> Int {
    // Not empty.
    for _ in 0..<Photo.side { body(target.baseAddress!) }
    return Int(target[0])
  }

  func scalar8() -> Int {
    rows { ScalarSourceOver.blend(straight: pixels, count: Photo.side, opacity: opacity, over: $0) }
  }
  func vectors8() -> Int { rows { crb_over_8(pixels, Photo.side, opacity, $0) } }

  func scalar16() -> Int {
    rows { ScalarSourceOver.blend(straight: wide, count: Photo.side, opacity: opacity, over: $0) }
  }
  func vectors16() -> Int { rows { crb_over_16(wide, Photo.side, opacity, $0) } }

  func scalarPlane() -> Int {
    rows { ScalarSourceOver.blend(plane: plane, count: Photo.side, opacity: opacity, over: $0) }
  }
  func vectorsPlane() -> Int { rows { crb_over_plane(plane, Photo.side, opacity, $0) } }

  func scalarResolve() -> Int {
    rows { _ in ScalarSourceOver.resolve(plane, count: Photo.side, into: result.baseAddress!) }
  }
  func vectorsResolve() -> Int { rows { _ in crb_resolve(plane, Photo.side, result.baseAddress!) } }
}
