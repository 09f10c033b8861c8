/// What went wrong with a picture: in which file, where in it, and why.
///
/// The description is one line that says what a person can do about it. File names stand in it as they are; a program
/// that prints it to a terminal escapes control characters first.
public enum PictureError: Error, Sendable, Hashable {
  /// The file cannot be opened.
  case cannotOpen(file: String, reason: String)
  /// Reading failed below the format, for example because a disk did.
  case cannotRead(file: String, reason: String)
  /// The output cannot be made, written or put in its place; the target is as it was before.
  case cannotWrite(file: String, reason: String)
  /// The file has no bytes.
  case empty(file: String)
  /// The file does not begin like a PNG file.
  case notPNG(file: String)
  /// The file does not begin like a JPEG file.
  case notJPEG(file: String)
  /// The file does not begin like a WebP file.
  case notWebP(file: String)
  /// The file does not begin like one of any kind that is read.
  case notPicture(file: String)
  /// The file is right, but of a kind that is not read.
  case unsupported(file: String, kind: String)
  /// A library of the system that this kind of file is read with cannot be used.
  case libraryMissing(file: String, library: String, reason: String)
  /// The file ends at `place`, before the picture does.
  case truncated(file: String, place: String)
  /// The file breaks the specification of its format at `place`.
  case damaged(file: String, place: String, reason: String)
  /// The header asks for more pixels a side than the limit; nothing was decoded.
  case tooLarge(file: String, width: Int, height: Int, limit: Int)
  /// Decoding would take more bytes than allowed; nothing was decoded.
  case needsMemory(file: String, needed: Int, limit: Int)
  /// The file is no longer the one whose header was read.
  case changed(file: String)
  /// The memory offered is not the size of the picture, in bytes.
  case wrongSize(file: String, expected: Int, given: Int)
}

extension PictureError: CustomStringConvertible {
  /// File, place, reason and remedy in one line.
  public var description: String {
    switch self {
    case .cannotOpen(let file, let reason):
      "\(file): cannot be opened: \(reason); check the name and the permissions"
    case .cannotRead(let file, let reason):
      "\(file): cannot be read: \(reason)"
    case .cannotWrite(let file, let reason):
      "\(file): cannot be written: \(reason)"
    case .empty(let file):
      "\(file): the file is empty; export or copy it again"
    case .notPNG(let file):
      "\(file): this is not a PNG file; convert it to PNG first"
    case .notJPEG(let file):
      "\(file): this is not a JPEG file; convert it to JPEG first"
    case .notWebP(let file):
      "\(file): this is not a WebP file; convert it to WebP first"
    case .notPicture(let file):
      "\(file): this is not a PNG, JPEG or WebP file; convert it to one of these first"
    case .unsupported(let file, let kind):
      "\(file): \(kind) is not read; save it as an ordinary file"
    case .libraryMissing(let file, let library, let reason):
      "\(file): cannot be read without \(library): \(reason); install it"
    case .truncated(let file, let place):
      "\(file): the file ends early, in \(place); export or copy it again"
    case .damaged(let file, let place, let reason):
      "\(file): damaged, in \(place): \(reason); export or copy it again"
    case .tooLarge(let file, let width, let height, let limit):
      "\(file): \(width) x \(height) pixels is more than \(limit) a side; scale it down or raise the limit"
    case .needsMemory(let file, let needed, let limit):
      "\(file): decoding takes \(needed) bytes, more than \(limit); raise the budget or read it smaller"
    case .changed(let file):
      "\(file): the file has changed since its header was read; open it again"
    case .wrongSize(let file, let expected, let given):
      "\(file): the picture needs \(expected) bytes, the memory offered has \(given)"
    }
  }
}
