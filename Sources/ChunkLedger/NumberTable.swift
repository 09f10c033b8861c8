/// Something for each of the numbers that were in use last: a window over numbers that are given out one after the other.
///
/// Two numbers that are `capacity` apart share a place, and the older one is forgotten when the younger comes. Grows as far
/// as numbers reach, so that few cost little.
struct NumberTable<Value: Sendable>: Sendable {
  private var items: [(number: UInt32, value: Value)] = []
  private let capacity: Int
  private let none: Value

  /// - Parameters:
  ///   - capacity: how many numbers are told apart, a power of two.
  ///   - none: what stands for a number that is not known.
  init(capacity: Int, none: Value) {
    precondition(capacity > 0 && capacity & (capacity - 1) == 0)
    self.capacity = capacity
    self.none = none
  }

  subscript(number: UInt32) -> Value {
    get {
      let place = Int(number) & (capacity - 1)
      return items.indices.contains(place) && items[place].number == number ? items[place].value : none
    }
    set {
      let place = Int(number) & (capacity - 1)
      while items.count <= place { items.append((0, none)) }
      items[place] = (number, newValue)
    }
  }
}
