/// A layered picture as its file describes it: a canvas, and stacks of layers on it.
///
/// Follows the OpenRaster layer stack specification, 0.0.6. The document holds no pixels; layers say in which entry of
/// the file theirs are.
public struct CardDocument: Sendable, Hashable {
  /// Where a layer or a stack begins, or where a stack ends.
  ///
  /// The tree is kept flat, so that no depth of nesting needs recursion to build, walk or release it.
  public enum Item: Sendable, Hashable {
    /// A layer of pixels.
    case layer(CardLayer)
    /// The items up to the matching end belong to this stack; the first of them is its uppermost.
    case stackStart(CardStack)
    /// The end of the stack whose start has this index in `items`.
    case stackEnd(start: Int)
  }

  /// The canvas's width in pixels; everything is cropped to the canvas.
  public var width: Int
  /// The canvas's height in pixels.
  public var height: Int
  /// The root stack with all that is in it, the uppermost first.
  public var items: [Item]

  /// Makes a document of its parts.
  public init(width: Int, height: Int, items: [Item]) {
    self.width = width
    self.height = height
    self.items = items
  }
}

/// How a layer or a stack is laid over what is below it.
public struct CardBlend: Sendable, Hashable {
  /// From 0, which is not there, to 1.
  public var opacity: Double
  /// Whether it is shown at all.
  public var isVisible: Bool
  /// The name of the compositing operator, for example `svg:src-over`.
  public var compositeOperator: String

  /// The operator that a document means when it names none.
  public static let sourceOver = "svg:src-over"

  /// Makes a blend; by default opaque, visible and source-over.
  public init(opacity: Double = 1, isVisible: Bool = true, compositeOperator: String = CardBlend.sourceOver) {
    self.opacity = opacity
    self.isVisible = isVisible
    self.compositeOperator = compositeOperator
  }
}

/// One picture of a document, and where on the canvas it lies.
public struct CardLayer: Sendable, Hashable {
  /// The name that people know it by; may be empty.
  public var name: String
  /// The entry of the file that holds its pixels.
  public var source: String
  /// The column of the canvas where its left edge is, of any sign.
  public var x: Int
  /// The row of the canvas where its upper edge is, of any sign.
  public var y: Int
  /// How it is laid over what is below it.
  public var blend: CardBlend

  /// Makes a layer.
  public init(name: String, source: String, x: Int = 0, y: Int = 0, blend: CardBlend = CardBlend()) {
    self.name = name
    self.source = source
    self.x = x
    self.y = y
    self.blend = blend
  }
}

/// A group of layers and further stacks.
public struct CardStack: Sendable, Hashable {
  /// How the items of a stack meet what is below the stack.
  public enum Isolation: Sendable, Hashable {
    /// They are composed among themselves first; the result is then laid over, with the stack's opacity.
    case isolated
    /// They are laid over what is below the stack one by one, each with the stack's opacity on top of its own.
    case passThrough
  }

  /// The name that people know it by; may be empty.
  public var name: String
  /// How it is laid over what is below it.
  public var blend: CardBlend
  /// How its items meet what is below it.
  public var isolation: Isolation

  /// Makes a stack.
  public init(name: String, blend: CardBlend = CardBlend(), isolation: Isolation = .isolated) {
    self.name = name
    self.blend = blend
    self.isolation = isolation
  }
}
