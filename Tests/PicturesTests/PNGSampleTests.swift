import Pictures
import TestSupport
import Testing

/// Files of Willem van Schaik's PngSuite and of others; skipped where the samples are not there.
@Suite(.enabled(if: SampleFiles.areThere, "the sample files are not beside the package")) struct PNGSampleTests {
  /// FNV-1a of the 8-bit RGBA pixels with straight alpha, gamma ignored, as an independent decoder sees them.
  static let checksums: [(name: String, checksum: UInt64)] = [
    ("PngSuite", 0x5216_3aec_1d0e_e666),
    ("basi2c08", 0x6d0a_5944_6286_8f25),
    ("basi3p08", 0x3733_a888_5d80_db25),
    ("basi6a08", 0xf9ed_41b6_375b_125d),
    ("basn0g01", 0xf76a_b9c2_cc27_5b5d),
    ("basn0g08", 0x11ed_8979_ce4d_7b4d),
    ("basn0g16", 0x785e_2510_9704_327c),
    ("basn2c08", 0x6d0a_5944_6286_8f25),
    ("basn2c16", 0x14fb_a4b7_a7c9_0773),
    ("basn3p02", 0xe1b9_7808_c557_cb25),
    ("basn3p08", 0x3733_a888_5d80_db25),
    ("basn4a08", 0x4b4e_70fc_7720_494d),
    ("basn4a16", 0x3fd7_053b_16ac_1f45),
    ("basn6a08", 0xf9ed_41b6_375b_125d),
    ("basn6a16", 0x0fc7_9b1d_0c17_59f1),
    ("f04n2c08", 0x82f3_b8a0_ed48_9346),
    ("oi9n2c16", 0x14fb_a4b7_a7c9_0773),
    ("s01n3p01", 0x4a3d_077f_9b55_736b),
    ("s33i3p04", 0xced7_4e9e_9e28_435b),
    ("tbbn3p08", 0x6cdf_f609_c65a_ac37),
    ("tp1n3p08", 0x6cdf_f609_c65a_ac37),
  ]

  @Test(arguments: checksums)
  func decodes(name: String, checksum: UInt64) throws {
    let pixels = try decode(FileSource(BytePath(SampleFiles.path("png/\(name).png"))))
    let found = pixels.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    #expect(found == checksum)
  }

  @Test(arguments: [
    ("broken", "header"), ("truncated_image", "row"), ("xcrn0g04", "not a PNG"), ("xd0n2c08", "bit depth"),
    ("xdtn0g01", "damaged"), ("xhdn0g08", "checksum"), ("xs1n0g01", "not a PNG"),
  ])
  func refuses(name: String, reason: String) throws {
    let path = SampleFiles.path("corrupt/\(name).png")
    let error = #expect(throws: PictureError.self) { try decode(FileSource(BytePath(path))) }
    let text = try #require(error).description
    #expect(text.hasPrefix(path + ": ") && text.contains(reason), "\(text)")
  }
}
