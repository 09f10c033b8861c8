import Cards
import MemChunks
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

/// A document is one file, opened once, and must stay the same while it is rendered.
@Suite struct ChangedFileTests {
  let directory = TemporaryDirectory()
  private let pool = ChunkPool(budget: .megabytes(1))
  private var path: String { directory.file("card.ora") }
  private var output: String { directory.file("out.png") }

  /// A document of two layers, one above the other, of which the lower part is opened late.
  private func makeDocument() -> ArchiveMaker {
    var maker = ArchiveMaker(
      stack: "<image w='20' h='80' version='0.0.6'><stack>"
        + "<layer src='a'/><layer src='a' y='40'/></stack></image>")
    maker.add("a", width: 20, height: 40)
    return maker
  }

  /// Renders, and does something to the files when the first row is done.
  private func render(_ change: () -> Void) throws {
    makeDocument().write(to: path)
    let file = try OpenRasterFile(BytePath(path))
    _ = try file.render(to: BytePath(output), in: pool, options: RenderOptions(threads: 1)) { done, _ in
      if done == 1 { change() }
    }
  }

  @Test func aFileThatIsWrittenToFailsByName() {
    #expect(throws: CardError.changed(file: path)) {
      try render { writeFile(path, makeDocument().file + [0]) }
    }
    #expect(directory.fileNames == ["card.ora"])
    #expect(pool.statistics.used == 0)
  }

  @Test func aFileInItsPlaceIsAnotherOne() {
    #expect(throws: CardError.changed(file: path)) {
      try render {
        makeDocument().write(to: directory.file("other.ora"))
        rename(directory.file("other.ora"), path)
      }
    }
    #expect(directory.fileNames == ["card.ora"])
  }

  @Test func aFileThatIsGoneFailsByName() {
    #expect(throws: CardError.changed(file: path)) { try render { unlink(path) } }
    #expect(directory.fileNames == [])
  }

  @Test func aFileThatChangedSinceItWasOpenedFailsBeforeAnythingIsDecoded() throws {
    makeDocument().write(to: path)
    let file = try OpenRasterFile(BytePath(path))
    writeFile(path, makeDocument().file + [0])
    #expect(throws: CardError.changed(file: path)) { try file.render(to: BytePath(output), in: pool) }
    #expect(directory.fileNames == ["card.ora"])
  }

  @Test("what progress throws ends the rendering, and leaves no output")
  func cancelled() throws {
    makeDocument().write(to: path)
    let file = try OpenRasterFile(BytePath(path))
    for row in [1, 40, 80] {
      #expect(throws: Mishap(row)) {
        try file.render(to: BytePath(output), in: pool) { done, _ in if done == row { throw Mishap(row) } }
      }
      #expect(directory.fileNames == ["card.ora"])
      #expect(pool.statistics.used == 0 && pool.statistics.pinned == 0)
    }
  }

  @Test("one open file, whatever the layers and threads, and nothing written but the output")
  func openFiles() throws {
    var maker = ArchiveMaker(
      stack: "<image w='20' h='40' version='0.0.6'><stack>"
        + (0..<200).map { "<layer src='\($0)'/>" }.joined() + "</stack></image>")
    for index in 0..<200 { maker.add("\(index)", width: 20, height: 40) }
    maker.deflate()
    maker.write(to: path)
    let file = try OpenRasterFile(BytePath(path))
    let pool = ChunkPool(budget: .megabytes(32))
    _ = try file.render(to: BytePath(output), in: pool, options: RenderOptions(threads: 8)) { done, _ in
      guard done == 20 else { return }
      #expect(openCount(of: path) == 1)
      let temporary = directory.fileNames.filter { $0 != "card.ora" }
      #expect(temporary.count == 1 && temporary[0].hasPrefix(".memchunk-"))
    }
    #expect(directory.fileNames == ["card.ora", "out.png"])
  }

  /// How many of this process's descriptors lead to a file.
  private func openCount(of path: String) -> Int {
    (0..<4_096).count { descriptor in
      var target = [UInt8](repeating: 0, count: 4_096)
      let count = target.withUnsafeMutableBytes { target in
        readlink("/proc/self/fd/\(descriptor)", target.bindMemory(to: CChar.self).baseAddress!, target.count)
      }
      return count > 0 && target[..<count].elementsEqual(path.utf8)
    }
  }
}
