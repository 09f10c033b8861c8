import Cards
import Testing

@Suite struct SegmentTests {
  /// A plan of a text: a letter is a layer that covers the canvas, digits are layers of that one row, parentheses are a
  /// group with an opacity of one half; the lowest comes first.
  private func plan(_ text: String) throws -> CompositionPlan {
    // Items are listed from the top.
    var items: [CardDocument.Item] = [.stackStart(CardStack(name: ""))]
    var open = [0]
    for character in text.reversed() {
      switch character {
      case ")":
        open.append(items.count)
        items.append(.stackStart(CardStack(name: "", blend: CardBlend(opacity: 0.5))))
      case "(": items.append(.stackEnd(start: open.removeLast()))
      default:
        items.append(
          .layer(CardLayer(name: "", source: "\(character)", y: character.wholeNumberValue ?? 0)))
      }
    }
    items.append(.stackEnd(start: 0))
    let document = CardDocument(width: 10, height: 10, items: items)
    return try CompositionPlan(document, file: "") { ($0.y == 0 && !$0.source.first!.isNumber) ? (10, 10) : (5, 1) }
  }

  /// The segments as text again.
  private func describe(_ text: String) throws -> [String] {
    let plan = try plan(text)
    return plan.segments().map { segment in
      let layers = segment.layers.map { plan.layers[$0.placed.index].source }.joined()
      return String(repeating: "(", count: segment.begins.count) + layers
        + String(repeating: ")", count: segment.ends.count)
    }
  }

  @Test func layersAreCutIntoFours() throws {
    #expect(try describe("abc") == ["abc"])
    #expect(try describe("abcdefghi") == ["abcd", "efgh", "i"])
    #expect(try describe("") == [])
  }

  @Test func groupsBeginAndEndWithTheSegmentsOfTheirLayers() throws {
    #expect(try describe("ab(cd)e") == ["ab", "(cd)", "e"])
    #expect(try describe("(ab(cd))(ef)g") == ["(ab", "(cd))", "(ef)", "g"])
    #expect(try describe("((abcde)f)") == ["((abcd", "e)", "f)"])
  }

  @Test func aSegmentHasThePlanesOfItsGroups() throws {
    let segments = try plan("a(bc(de)f)g").segments()
    #expect(segments.map(\.plane) == [0, 1, 2, 1, 0])
    #expect(segments[1].begins.map(\.plane) == [1] && segments[2].begins.map(\.plane) == [2])
    #expect(segments[2].ends.map(\.plane) == [2] && segments[3].ends.map(\.plane) == [1])
    #expect(segments[3].ends[0].opacity == 32_768)
  }

  @Test("a segment changes the rows of its layers, and of the groups that begin or end with it")
  func rows() throws {
    let segments = try plan("12(34(56)7)").segments()
    #expect(segments.map(\.rows) == [1..<3, 3..<8, 5..<7, 3..<8])
    #expect(segments.map(\.columns) == [0..<5, 0..<5, 0..<5, 0..<5])
    #expect(segments[1].begins[0].rows == 3..<8 && segments[2].begins[0].rows == 5..<7)
  }

  @Test func everyLayerIsInOneSegment() throws {
    let text = String(repeating: "a(bcdef(gh)i)", count: 300)
    let segments = try plan(text).segments()
    #expect(segments.map(\.layerIndexes).reduce(0) { $1.lowerBound == $0 ? $1.upperBound : -1 } == 2_700)
    #expect(segments.allSatisfy { (1...Segment.layerLimit).contains($0.layers.count) })
  }
}
