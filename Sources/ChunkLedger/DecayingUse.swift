/// Frees first what is least worth keeping by uses that fade: a use counts half after so many requests.
///
/// The key stands for `weight * cost / size`. The weights of all chunks fade alike, so their order changes only when one
/// is used, and a key need not be touched meanwhile: it is the logarithm of the value at the last use, plus that use's
/// time in half-lives. The half-life is 32 requests for each chunk that is ready. Weights of freed chunks are remembered.
///
/// Good where few chunks are used again and again, bad where what was used last is used next: a candidate of
/// `Adaptive`, not an order by itself.
package struct DecayingUse: EvictOrder {
  private struct Weight {
    var weight: Float = 0
    var time: UInt64 = 0
  }

  private var weights: NumberTable<Weight>
  private var time: UInt64 = 0
  private var residents = 1
  private var hasNewHalfLife = false

  /// - Parameter capacity: of how many chunks weights are kept, a power of two.
  package init(capacity: Int) {
    weights = NumberTable(capacity: capacity, none: Weight())
  }

  private var halfLife: Double { 32 * Double(residents) }

  package func key(for use: ChunkUse, size: Int) -> UInt64 {
    let known = weights[use.number]
    let value = Double(max(1, known.weight)) * Double(max(1, use.cost)) / Double(max(1, size))
    // The offset is more than the logarithm of any value is below zero: what is not negative is ordered as its bits are.
    return (2_048 + binaryLogarithm(value) + Double(known.time) / halfLife).bitPattern
  }

  package mutating func chose(key: UInt64) {}
  package var followsRecency: Bool { false }
  package var sparesExcess: Bool { true }
  package var wantsRequests: Bool { true }

  package mutating func note(_ request: OrderedRequest) {
    time += 1
    if request.residents > 2 * residents || 2 * request.residents < residents {
      residents = max(1, request.residents)
      hasNewHalfLife = true
    }
    let known = weights[request.number]
    let age = Double(time - known.time) / halfLife
    weights[request.number] = Weight(weight: known.weight * Float(inversePowerOfTwo(age)) + 1, time: time)
  }

  package mutating func takeKeyChange() -> Bool {
    defer { hasNewHalfLife = false }
    return hasNewHalfLife
  }
}

/// The logarithm to base 2, straight between powers of two: rises with `value`, and is off by less than 0.09. There is no
/// mathematics library on the smallest machines.
private func binaryLogarithm(_ value: Double) -> Double {
  Double(value.exponent) + (value.significand - 1)
}

/// 2 to the power of `-exponent`, straight between whole numbers: the inverse of `binaryLogarithm`.
private func inversePowerOfTwo(_ exponent: Double) -> Double {
  guard exponent < 1_000 else { return 0 }
  let whole = exponent.rounded(.up)
  return Double(sign: .plus, exponent: -Int(whole), significand: 1 + (whole - exponent))
}
