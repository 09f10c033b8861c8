import JPEGReference
import MemChunks
import PictureReference
import Pictures
import TestSupport
import Testing

// Darwin and Musl are not run here.
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite struct ColorProfileTests {
  private func profile(isGray: Bool, gamma: Double) -> [UInt8] {
    var count = 0
    return taken(pref_profile(isGray ? 1 : 0, gamma, &count), count)
  }

  /// What light is in sRGB (IEC 61966-2-1).
  private func step(_ light: Double) -> Double {
    255 * (light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055)
  }

  private func colors(_ picture: Picture, reading: PictureReading = PictureReading()) throws -> [UInt8] {
    var pixels: [UInt8] = []
    try PictureChunk(picture, in: ChunkPool(budget: .megabytes(4)), reading: reading).forEachRow { pixels += $0 }
    return pixels
  }

  @Test("numbers become those of sRGB, alpha stays", arguments: [false, true], [1.0, 1.8])
  func converts(isGray: Bool, gamma: Double) throws {
    let profile = try ColorProfile(profile(isGray: isGray, gamma: gamma), of: "a.jpg")
    #expect(!profile.isAlmostSRGB)
    var pixels = (0...255).flatMap { [UInt8($0), UInt8($0), UInt8($0), UInt8(255 - $0)] }
    pixels.withUnsafeMutableBytes { profile.convert($0) }
    for value in 0...255 {
      let expected = step(pow(Double(value) / 255, gamma))
      for channel in 0..<3 { #expect(abs(Double(pixels[4 * value + channel]) - expected) <= 1.5, "\(value)") }
      #expect(pixels[4 * value + 3] == UInt8(255 - value))
    }
  }

  @Test func sRGBItselfIsRecognised() throws {
    var count = 0
    #expect(try ColorProfile(taken(pref_srgb(&count), count), of: "a.jpg").isAlmostSRGB)
  }

  @Test func aBrokenProfileIsSaidToBe() {
    #expect(throws: PictureError.unsupported(file: "a.jpg", kind: "a broken colour profile")) {
      try ColorProfile(Array(repeating: 7, count: 500), of: "a.jpg")
    }
  }

  @Test("without the library, the error names it and the file")
  func libraryMissing() throws {
    let error = #expect(throws: PictureError.self) {
      try ColorProfile.checkLibrary(for: "a.jpg", named: "liblcms-that-is-not-there.so.2")
    }
    let text = "\(try #require(error))"
    #expect(text.hasPrefix("a.jpg: ") && text.contains("liblcms-that-is-not-there.so.2"))
    #expect(throws: PictureError.self) { try ColorProfile.checkLibrary(for: "a.jpg", named: "libm.so.6") }
  }

  @Test("photos of every kind of file are converted row by row, unless that is not wanted")
  func photos() throws {
    let gray = profile(isGray: true, gamma: 1), color = profile(isGray: false, gamma: 1)
    let jpeg = JPEGMaker(width: 16, height: 8).encode(Array(repeating: 100, count: 16 * 8 * 3))
    let segment = JPEGPieces.segment(0xe2, Array("ICC_PROFILE\0".utf8) + [1, 1] + color)
    let webp = WebPMaker(width: 16, height: 8)
    let samples = [UInt8](repeating: 100, count: 16 * 8)
    var count = 0
    var bytes = gray
    let png = taken(pref_png_with_profile(samples, 16, 8, &bytes, bytes.count, &count), count)
    let files = [
      JPEGPieces.inserting(segment, into: jpeg), png,
      WebPMaker.extended(
        webp.encode(), width: 16, height: 8, before: WebPMaker.chunk("ICCP", color), flags: 0x20),
    ]
    for file in files {
      let picture = try Picture { BytesSource(file) }
      #expect(picture.hasProfile)
      let stored = try colors(picture, reading: PictureReading(convertsProfile: false))
      let shown = try colors(picture)
      for (stored, shown) in zip(stored, shown).enumerated().filter({ $0.offset % 4 < 3 }).map(\.element) {
        #expect(abs(Double(shown) - step(Double(stored) / 255)) <= 1.5, "\(picture.format)")
      }
    }
    // A profile of greys says nothing of colours.
    var random = SeededGenerator(seed: 5)
    let colorful = JPEGMaker(width: 16, height: 8).encode(
      (0..<16 * 8 * 3).map { _ in UInt8.random(in: 0...255, using: &random) })
    let other = JPEGPieces.segment(0xe2, Array("ICC_PROFILE\0".utf8) + [1, 1] + gray)
    #expect(try colors(Picture { BytesSource(JPEGPieces.inserting(other, into: colorful)) }) == readJPEG(colorful))
    // What is broken is left alone.
    let broken = JPEGPieces.segment(0xe2, Array("ICC_PROFILE\0".utf8) + [1, 1] + [1, 2, 3])
    #expect(try colors(Picture { BytesSource(JPEGPieces.inserting(broken, into: jpeg)) }) == readJPEG(jpeg))
  }
}
