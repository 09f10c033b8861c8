internal import CColorProfiles

/// A colour profile (ICC.1:2010), and the way from its colours to those of sRGB, through lcms2.
///
/// lcms2 is loaded into the process when the first profile is made. May be used by any number of threads at once.
public final class ColorProfile: @unchecked Sendable {
  // lcms2's transforms may be used by several threads; nothing else is kept.
  private let conversion: OpaquePointer

  /// Whether it changes no sample by more than one step, as profiles that are sRGB under another name do: then there is
  /// nothing to convert.
  public let isAlmostSRGB: Bool

  /// Whether it is of greys, and so says nothing of a picture in colour.
  public let isGray: Bool

  /// What lcms2 takes for a profile, in bytes, the profile itself not included. Measured with lcms2 2.14: 162 KB for one of
  /// curves; there is room for those of tables.
  public static let byteCount = 1 << 20

  /// Takes the bytes of a profile.
  ///
  /// - Throws: `PictureError.libraryMissing` without lcms2, `.unsupported` for a profile that is broken, or of other
  ///   colours than grey or red, green and blue.
  public init(_ bytes: [UInt8], of file: String) throws(PictureError) {
    try Self.checkLibrary(for: file)
    var kind = CCP_BROKEN
    guard let conversion = ccp_begin(bytes, bytes.count, &kind) else {
      throw .unsupported(
        file: file, kind: kind == CCP_OTHER ? "a colour profile of other than grey or RGB" : "a broken colour profile")
    }
    self.conversion = conversion
    isGray = kind == CCP_GRAY
    isAlmostSRGB = Self.changesLittle(conversion, isGray: isGray)
  }

  deinit {
    ccp_end(conversion)
  }

  /// Says that lcms2, or the library of another name, cannot be used.
  package static func checkLibrary(for file: String, named name: String? = nil) throws(PictureError) {
    guard let problem = name.map({ ccp_problem_of($0) }) ?? ccp_library_problem() else { return }
    throw .libraryMissing(file: file, library: name ?? "lcms2", reason: String(cString: problem))
  }

  /// Converts pixels of 8-bit RGBA with straight alpha to sRGB, in place.
  public func convert(_ pixels: UnsafeMutableRawBufferPointer) {
    ccp_convert(conversion, pixels.bindMemory(to: UInt8.self).baseAddress, pixels.count / 4)
  }

  /// Tries colours all over the cube, or all greys.
  private static func changesLittle(_ conversion: OpaquePointer, isGray: Bool) -> Bool {
    let steps = stride(from: 0, through: 255, by: 15).map { UInt8($0) }
    let colors: [UInt8] =
      isGray
      ? (0...255).flatMap { [$0, $0, $0, 255] as [UInt8] }
      : steps.flatMap { red in steps.flatMap { green in steps.flatMap { [red, green, $0, 255] as [UInt8] } } }
    var converted = colors
    ccp_convert(conversion, &converted, colors.count / 4)
    return zip(colors, converted).allSatisfy { abs(Int($0) - Int($1)) <= 1 }
  }
}

/// A picture whose rows are converted to sRGB one by one.
final class ConvertedRows: PictureRows {
  private let source: any PictureRows
  private let profile: ColorProfile
  private let row: UnsafeMutableRawBufferPointer

  init(_ source: any PictureRows, _ profile: ColorProfile) {
    self.source = source
    self.profile = profile
    row = .allocate(byteCount: 4 * source.width, alignment: 16)
  }

  deinit {
    row.deallocate()
  }

  var width: Int { source.width }
  var height: Int { source.height }
  var warning: PictureError? { source.warning }
  var restIsMissing: Bool { source.restIsMissing }

  func nextRow() throws -> UnsafeRawBufferPointer? {
    guard let next = try source.nextRow() else { return nil }
    row.copyMemory(from: next)
    profile.convert(row)
    return UnsafeRawBufferPointer(row)
  }
}
