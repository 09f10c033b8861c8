import Pictures
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite struct ReplacementFileTests {
  let directory = TemporaryDirectory()
  let old: [UInt8] = [1, 2, 3]
  let new: [UInt8] = [4, 5]

  private func mode(_ path: String) -> mode_t {
    var status = stat()
    stat(path, &status)
    return status.st_mode & 0o7777
  }

  @Test func takesItsPlaceOnlyWhenCommitted() throws {
    let path = directory.file("out.png")
    writeFile(path, old)
    let file = try ReplacementFile(replacing: BytePath(path))
    try new.withUnsafeBytes { try file.write($0) }
    #expect(readFile(path) == old)
    #expect(directory.fileNames.count == 2)
    try file.commit()
    #expect(readFile(path) == new)
    #expect(directory.fileNames == ["out.png"])
  }

  @Test(arguments: ["", String(repeating: "n", count: 300)])
  func aNameThatNoFileCanHaveIsRefusedAtOnce(name: String) {
    let path = name.isEmpty ? name : directory.file(name)
    let error = #expect(throws: PictureError.self) { try ReplacementFile(replacing: BytePath(path)) }
    #expect(error?.description.contains("link") == false)
    #expect(directory.fileNames.isEmpty)
  }

  @Test func leavesNothingWhenDropped() throws {
    let path = directory.file("out.png")
    writeFile(path, old)
    do {
      let file = try ReplacementFile(replacing: BytePath(path))
      try new.withUnsafeBytes { try file.write($0) }
    }
    #expect(readFile(path) == old)
    #expect(directory.fileNames == ["out.png"])
  }

  @Test func followsALinkAndKeepsTheMode() throws {
    let path = directory.file("real.png")
    writeFile(path, old)
    chmod(path, 0o640)
    symlink("real.png", directory.file("link.png"))
    let file = try ReplacementFile(replacing: BytePath(directory.file("link.png")))
    try new.withUnsafeBytes { try file.write($0) }
    try file.commit()
    #expect(readFile(path) == new)
    #expect(mode(path) == 0o640)
    var status = stat()
    lstat(directory.file("link.png"), &status)
    #expect(status.st_mode & S_IFMT == S_IFLNK)
  }

  @Test func aNameThatIsNotUTF8Works() throws {
    let path = BytePath(bytes: Array("\(directory.path)/".utf8) + [0xff, 0xfe])
    try ReplacementFile(replacing: path).commit()
    #expect(directory.fileNames.count == 1)
    _ = try FileSource(path)
    path.withCString { _ = unlink($0) }
  }

  @Test(arguments: ["", "none/out.png", "dangling.png", "/dev/null"])
  func refusesWhatIsNotAFile(name: String) throws {
    symlink("nowhere", directory.file("dangling.png"))
    let path = name.hasPrefix("/") ? name : directory.file(name)
    let error = #expect(throws: PictureError.self) { try ReplacementFile(replacing: BytePath(path)) }
    guard case .cannotWrite(let file, _) = error else {
      Issue.record("\(String(describing: error)) instead of cannotWrite")
      return
    }
    #expect(file == path)
  }

  @Test func abandonedFilesAreGoneAndNoneComesAfter() throws {
    let unfinished = UnfinishedFiles()
    let paths = ["a.png", "b.png", "done.png"].map { BytePath(directory.file($0)) }
    let files = try paths.map { try ReplacementFile(replacing: $0, among: unfinished) }
    try new.withUnsafeBytes { try files[0].write($0) }
    try files[2].commit()
    unfinished.abandon()
    #expect(directory.fileNames == ["done.png"])
    let ending = PictureError.cannotWrite(file: paths[0].description, reason: "the program is ending")
    #expect(throws: ending) { try files[0].commit() }
    #expect(throws: ending) { try ReplacementFile(replacing: paths[0], among: unfinished) }
    #expect(directory.fileNames == ["done.png"])
    // Others are not concerned.
    try ReplacementFile(replacing: paths[1]).commit()
    #expect(directory.fileNames.sorted() == ["b.png", "done.png"])
  }

  @Test("while files are made, placed and dropped, abandoning leaves none behind")
  func abandonedAmidWork() throws {
    for round in 0..<20 {
      let directory = TemporaryDirectory()
      let unfinished = UnfinishedFiles()
      let started = Gate()
      let threads = (0..<3).map { index in
        TestThread {
          var done = 0
          while let file = try? ReplacementFile(
            replacing: BytePath(directory.file("\(index)")), among: unfinished)
          {
            started.open()
            if done % 2 == 0 { try? file.commit() }
            done += 1
          }
        }
      }
      started.wait()
      unfinished.abandon()
      // What is there now stays: whole files alone.
      #expect(directory.fileNames.allSatisfy { !$0.hasPrefix(".") }, "round \(round)")
      for thread in threads { thread.join() }
      #expect(directory.fileNames.allSatisfy { !$0.hasPrefix(".") }, "round \(round)")
    }
  }
}
