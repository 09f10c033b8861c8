import Cards
import Pictures
import TestSupport
import Testing

@Suite struct OpenRasterReadingTests {
  let directory = TemporaryDirectory()

  private func open(_ maker: ArchiveMaker) throws -> OpenRasterFile {
    let path = directory.file("card.ora")
    maker.write(to: path)
    return try OpenRasterFile(BytePath(path))
  }

  @Test func readsCanvasStacksAndLayers() throws {
    let document = try open(
      ArchiveMaker(
        stack: """
          <?xml version="1.0" encoding="UTF-8"?>
          <image w="640" h="480" version="0.0.6" xres="72" yres="72" xmlns:mypaint="urn:mypaint">
            <stack>
              <layer name="up &amp; away" src="data/a.png" x="-12" y="+7" opacity="0.25"/>
              <mypaint:extension><layer src="not/this.png"/></mypaint:extension>
              <stack name="inner" isolation="auto" visibility="hidden" composite-op="svg:multiply">
                <layer src="data/b.png"/>
              </stack>
            </stack>
          </image>
          """)
    ).document
    #expect(document.width == 640 && document.height == 480)
    let hidden = CardBlend(isVisible: false, compositeOperator: "svg:multiply")
    #expect(
      document.items == [
        .stackStart(CardStack(name: "")),
        .layer(CardLayer(name: "up & away", source: "data/a.png", x: -12, y: 7, blend: CardBlend(opacity: 0.25))),
        .stackStart(CardStack(name: "inner", blend: hidden, isolation: .passThrough)),
        .layer(CardLayer(name: "", source: "data/b.png")),
        .stackEnd(start: 2),
        .stackEnd(start: 0),
      ])
  }

  @Test(
    "the version decides what a stack means that says nothing",
    arguments: [
      ("version='0.0.6'", "", CardStack.Isolation.isolated), ("version='0.0.10'", "", .isolated),
      ("version='1.0'", "", .isolated), ("version='0.0.5'", "", .passThrough), ("", "", .passThrough),
      ("version='0.0.6-pre.1'", "", .passThrough), ("version='0.0.4'", "isolation='isolate'", .isolated),
      ("version='0.0.6'", "isolation='auto'", .passThrough),
      // Before 0.0.6 an opacity below 1 isolated; since then it is handed down.
      ("version='0.0.5'", "opacity='0.5'", .isolated),
      ("version='0.0.6'", "isolation='auto' opacity='0.5'", .passThrough),
    ])
  func isolation(version: String, stack: String, expected: CardStack.Isolation) throws {
    let document = try open(ArchiveMaker(elements: "<stack \(stack)/>", attributes: version)).document
    guard case .stackStart(let stack) = document.items[1] else {
      Issue.record("no stack")
      return
    }
    #expect(stack.isolation == expected)
  }

  @Test(
    "what breaks the format is an error that names file and line",
    arguments: [
      ("<layer src='a' x='1.5'/>", "x=\"1.5\""), ("<layer src='a' y=''/>", "y=\"\""),
      ("<layer src='a' x='99999999999'/>", "expected a whole number"), ("<layer src='a' opacity='1.5'/>", "opacity"),
      ("<layer src='a' opacity='nan'/>", "from 0 to 1"), ("<layer src='a' opacity='0x1p-2'/>", "from 0 to 1"),
      ("<layer src='a' visibility='maybe'/>", "visible or hidden"), ("<layer/>", "src"),
      ("<stack isolation='never'/>", "isolate or auto"), ("<text>hello</text>", "<text> is not supported"),
      ("<filter type='blur'/>", "<filter>"), ("<layer src='a'><layer src='b'/></layer>", "<layer>"),
      ("<layer src='a'>", "mismatched tag"), ("<layer src='a' src='b'/>", "duplicate attribute"),
    ])
  func badElements(elements: String, reason: String) throws {
    let error = #expect(throws: CardError.self) { try open(ArchiveMaker(elements: "\n\(elements)")) }
    let text = try #require(error).description
    #expect(text.contains("card.ora: stack.xml, line ") && text.contains(reason), "\(text)")
  }

  @Test(
    arguments: [
      ("", "no element found"), ("<image w='4' h='4'/>", "no stack"), ("<stack/>", "<stack>"),
      ("<image w='0' h='4'><stack/></image>", "w=\"0\""), ("<image w='4'><stack/></image>", "h=\"\""),
      ("<image w='4' h='70000'><stack/></image>", "65535"), ("<image w='-4' h='4'><stack/></image>", "w"),
      ("<image w='4' h='4' version='new'><stack/></image>", "version"),
      ("<image w='4' h='4'><stack/><stack/></image>", "<stack>"), ("not xml", "line 1"),
      ("<!DOCTYPE image [<!ENTITY a 'aaaa'>]><image w='4' h='4'><stack/></image>", "document type definition"),
      ("<!DOCTYPE image SYSTEM '/etc/passwd'><image w='4' h='4'><stack/></image>", "document type definition"),
    ])
  func badDocuments(stack: String, reason: String) throws {
    let error = #expect(throws: CardError.self) { try open(ArchiveMaker(stack: stack)) }
    let text = try #require(error).description
    #expect(text.contains("stack.xml") && text.contains(reason), "\(text)")
  }

  @Test func aDescriptionOfMoreThan4MBIsRefused() throws {
    let padding = String(repeating: " ", count: 4 << 20)
    #expect(throws: CardError.self) { try open(ArchiveMaker(elements: padding)) }
  }

  @Test func elementsMayNest4096DeepAndNoDeeper() throws {
    func nested(_ depth: Int) -> ArchiveMaker {
      ArchiveMaker(
        elements: String(repeating: "<stack>", count: depth) + String(repeating: "</stack>", count: depth))
    }
    #expect(try open(nested(4_094)).document.items.count == 2 * 4_095)
    #expect(throws: CardError.self) { try open(nested(4_095)) }
  }

  @Test func filesThatAreNoDocumentsAreNamed() throws {
    let path = directory.file("card.ora")
    func expectError(_ reason: String) {
      let error = #expect(throws: CardError.self) { try OpenRasterFile(BytePath(path)) }
      #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
    }
    expectError("No such file")
    writeFile(path, [])
    expectError("the file is empty")
    writeFile(path, Array("hello".utf8))
    expectError("not a zip archive")
    var maker = ArchiveMaker()
    maker.entries = [.init(name: "content.xml", bytes: [1])]
    maker.write(to: path)
    expectError("no mimetype")
    maker.entries = [.init(name: "mimetype", bytes: Array("application/epub+zip".utf8))]
    maker.write(to: path)
    expectError("application/epub+zip")
    maker.entries = [.init(name: "mimetype", bytes: Array("image/openraster".utf8))]
    maker.write(to: path)
    expectError("no stack.xml")
  }

  @Test func twoEntriesOfOneNameAreRefused() throws {
    var maker = ArchiveMaker(elements: "<layer src='data/one.png'/>")
    maker.add("data/one.png")
    maker.add("data/one.png")
    let path = directory.file("card.ora")
    maker.write(to: path)
    #expect(throws: CardError.duplicateEntry(file: path, entry: "data/one.png")) {
      try OpenRasterFile(BytePath(path))
    }
  }

  @Test func anEncryptedEntryIsNamed() throws {
    var maker = ArchiveMaker(elements: "<layer src='data/a.png'/>")
    maker.add("data/a.png")
    maker.change("data/a.png") { $0.isEncrypted = true }
    let file = try open(maker)
    #expect(throws: CardError.encryptedEntry(file: file.name, entry: "data/a.png")) {
      try file.header(of: CardLayer(name: "", source: "data/a.png"))
    }
  }

  @Test(arguments: ["../secret.png", "data/../../secret.png", "/etc/passwd", "file:///etc/passwd", "..\\secret.png"])
  func aSourceOutsideTheFileIsRefused(source: String) throws {
    var maker = ArchiveMaker(elements: "")
    maker.add("../secret.png")
    let file = try open(maker)
    #expect(throws: CardError.sourceLeavesFile(file: file.name, layer: "thief", source: source)) {
      try file.header(of: CardLayer(name: "thief", source: source))
    }
  }
}
