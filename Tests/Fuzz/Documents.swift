import Cards
import MemChunks
import Pictures

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

// Documents. Whatever they hold, opening and rendering must end, stay within the budget and in their memory, and come to
// the same bytes with little room and one thread as with much and three.
//
// The first byte of an input says how to make a file of the rest:
//   bit 0: the rest is the text of stack.xml, beside pictures that it may name
//   bit 1: the rest is a picture, the layer of a document
//   bit 2: what is added is deflated
// With none of the first two, the rest is the file.

func fuzz(_ input: [UInt8]) {
  guard let mode = input.first else { return }
  let rest = Array(input.dropFirst())
  let file = mode & 3 == 0 ? rest : archive(rest, isPicture: mode & 2 != 0, isDeflated: mode & 4 != 0)
  var name = Array("/tmp/memchunk-fuzz-XXXXXX".utf8CString)
  let descriptor = mkstemp(&name)
  // Without a name, so that nothing is left behind, however this ends.
  unlink(name)
  guard descriptor >= 0, write(descriptor, file, file.count) == file.count else { fatalError("no temporary file") }
  defer { close(descriptor) }
  try? tryDocument(BytePath("/proc/self/fd/\(descriptor)"))
}

private func tryDocument(_ path: BytePath) throws {
  let file = try OpenRasterFile(path)
  guard file.document.width * file.document.height < 1 << 18 else { return }
  let least = try file.forecast(budget: .max / 2, options: RenderOptions(threads: 1)).leastBudget
  // A picture that is not on the canvas is not decoded; one that is may be large all the same.
  guard least < 8 << 20 else { return }
  let small = outcome { try Rendering(file, budget: least, threads: 1) }
  let large = outcome { try Rendering(file, budget: 16 << 20, threads: 3) }
  switch (small, large) {
  case (.success(let small), .success(let large)) where small == large: return
  case (.failure, .failure): return
  // zlib refuses codes that leave some bits without a meaning, ISA-L only a picture that uses such bits.
  case (.failure(let error), .success) where "\(error)".contains("not what deflate makes"): return
  default: fatalError("with little room: \(small), with much: \(large)")
  }
}

private func outcome(_ body: () throws -> Rendering) -> Result<[UInt8], any Error> {
  Result { try body() }.map { rendering in
    guard rendering.account.pool.peak <= rendering.account.pool.budget else { fatalError("\(rendering.account)") }
    return rendering.bytes
  }
}

private func archive(_ rest: [UInt8], isPicture: Bool, isDeflated: Bool) -> [UInt8] {
  var maker =
    isPicture ? ArchiveMaker(elements: "<layer src='a' opacity='0.5'/><layer src='a' y='2'/>") : ArchiveMaker()
  if isPicture {
    maker.add("a", rest)
  } else {
    maker.add("stack.xml", rest)
    maker.add("a", width: 9, height: 7, pixel: [250, 3, 100, 90])
    maker.add("b", width: 3, height: 40, pixel: [1, 2, 3, 255])
  }
  if isDeflated { maker.deflate() }
  return maker.file
}

func fuzzSeeds() -> [[UInt8]] {
  let text = """
    <?xml version="1.0" encoding="UTF-8"?><image w="12" h="10" version="0.0.6"><stack>
    <layer name="up" src="a" x="-3" y="2" opacity="0.3"/><stack opacity="0.5"><layer src="b"/><layer src="a"/></stack>
    <stack isolation="auto" opacity="0.25"><layer src="a" visibility="hidden"/><layer src="b" x="7"/></stack>
    <layer src="b" y="-30"/><layer src="a"/><layer src="a" y="1"/><layer src="b" composite-op="svg:src-over"/>
    </stack></image>
    """
  var maker = ArchiveMaker(elements: "<layer src='a' x='1'/><layer src='a' opacity='0.5'/>")
  maker.add("a", width: 5, height: 6, pixel: [5, 6, 7, 128])
  var wide = maker
  for index in wide.entries.indices { wide.entries[index].isWide = true }
  var deflated = maker
  deflated.deflate()
  let picture = makePNG(width: 6, rows: (0..<5).map { row in (0..<24).map { UInt8($0 * row) } })
  return [[0] + maker.file, [0] + wide.file, [0] + deflated.file]
    + [1, 5].map { [$0] + text.utf8 } + [2, 6].map { [$0] + picture }
}
