/// A few elements, mostly one: as long as it is one it lies in place, and there is no array.
///
/// A request is nearly always for one chunk, needs room once and from one group. In arrays, each of these lists would be
/// allocated and freed in every miss, which takes longer than all that the books do meanwhile.
///
/// Public and not of the package only: else a loop over it could not be specialised in other modules.
@frozen
public enum Few<Element> {
  /// No element.
  case none
  /// One element.
  case one(Element)
  /// Several elements, or as many as an array had.
  case several([Element])

  /// Makes an empty one.
  @inlinable
  public init() { self = .none }

  /// Takes over the elements of a collection.
  @inlinable
  public init(_ elements: some Collection<Element>) {
    switch elements.count {
    case 0: self = .none
    case 1: self = .one(elements.first!)
    default: self = .several(Array(elements))
    }
  }

  /// Holds the same element so many times.
  @inlinable
  public init(repeating element: Element, count: Int) {
    switch count {
    case 0: self = .none
    case 1: self = .one(element)
    default: self = .several(Array(repeating: element, count: count))
    }
  }

  /// Adds an element at the end.
  @inlinable
  public mutating func append(_ element: consuming Element) {
    switch self {
    case .none: self = .one(element)
    case .one(let first):
      var elements: [Element] = []
      // Where there are two there are often more.
      elements.reserveCapacity(8)
      elements.append(first)
      elements.append(element)
      self = .several(elements)
    case .several(var elements):
      // Without a second reference the array grows in place.
      self = .none
      elements.append(element)
      self = .several(elements)
    }
  }

  /// Adds elements at the end.
  @inlinable
  public static func += (few: inout Few, elements: some Sequence<Element>) {
    for element in elements { few.append(element) }
  }

  /// The elements, each transformed.
  @inlinable
  public func map<Other>(_ transform: (Element) -> Other) -> Few<Other> {
    switch self {
    case .none: .none
    case .one(let element): .one(transform(element))
    case .several(let elements): .several(elements.map(transform))
    }
  }
}

extension Few: RandomAccessCollection, MutableCollection {
  /// Always 0.
  @inlinable public var startIndex: Int { 0 }

  /// How many there are.
  @inlinable
  public var endIndex: Int {
    switch self {
    case .none: 0
    case .one: 1
    case .several(let elements): elements.count
    }
  }

  /// The element with a number.
  @inlinable
  public subscript(index: Int) -> Element {
    get {
      switch self {
      case .none: preconditionFailure("there is no element")
      case .one(let element):
        precondition(index == 0, "there is one element")
        return element
      case .several(let elements): return elements[index]
      }
    }
    set {
      switch self {
      case .none: preconditionFailure("there is no element")
      case .one:
        precondition(index == 0, "there is one element")
        self = .one(newValue)
      case .several(var elements):
        self = .none
        elements[index] = newValue
        self = .several(elements)
      }
    }
  }
}

extension Few: ExpressibleByArrayLiteral {
  /// Makes an array first: for where it does not matter.
  @inlinable
  public init(arrayLiteral elements: Element...) { self.init(elements) }
}

extension Few: Sendable where Element: Sendable {}
