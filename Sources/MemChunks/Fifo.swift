/// First in, first out, each in constant time.
struct Fifo<Element> {
  private var elements: [Element?] = []
  private var head = 0

  var count: Int { elements.count - head }
  var isEmpty: Bool { count == 0 }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func popFirst() -> Element? {
    guard head < elements.count else { return nil }
    let first = elements[head].take()
    head += 1
    // What is gone makes way when it is the larger part, so each element is moved once at most, on average.
    if 2 * head > elements.count {
      elements.removeFirst(head)
      head = 0
    }
    return first
  }
}
