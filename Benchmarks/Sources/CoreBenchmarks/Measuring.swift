import Foundation

/// One measured thing: a name, and a closure that does it so many times and returns the nanoseconds that took.
struct Measurement {
  let name: String
  let count: Int
  let run: (Int) -> Double
}

/// Runs measurements in turn, round after round, so that a change in the machine's speed meets all of them; returns
/// each one's nanoseconds per operation, sorted.
func alternate(_ measurements: [Measurement], rounds: Int) -> [[Double]] {
  var samples = measurements.map { _ in [Double]() }
  for measurement in measurements { _ = measurement.run(measurement.count) }
  for _ in 0..<rounds {
    for (index, measurement) in measurements.enumerated() {
      samples[index].append(measurement.run(measurement.count) / Double(measurement.count))
    }
  }
  return samples.map { $0.sorted() }
}

func nanoseconds(_ body: () throws -> Void) rethrows -> Double {
  let clock = ContinuousClock()
  let duration = try clock.measure(body)
  return Double(duration.components.seconds) * 1e9 + Double(duration.components.attoseconds) / 1e9
}

/// Keeps the optimiser from seeing that a value is not used.
@inline(never)
func consume<T>(_ value: T) { withExtendedLifetime(value) {} }

func median(_ sorted: [Double]) -> Double { sorted[sorted.count / 2] }

/// A table of medians, spreads and ratios to the first row.
func printTable(_ title: String, _ measurements: [Measurement], _ samples: [[Double]], unit: String = "ns") {
  print("\n\(title)")
  let base = median(samples[0])
  for (measurement, sample) in zip(measurements, samples) {
    let name = measurement.name.padding(toLength: 52, withPad: " ", startingAt: 0)
    print(
      name
        + String(
          format: "%10.1f %@   (%.1f to %.1f)   %6.2f x", median(sample), unit, sample.first!, sample.last!,
          median(sample) / base))
  }
}

/// Resident bytes of this process.
func residentBytes() -> Int {
  guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
  let fields = text.split(separator: " ")
  return (Int(fields[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
}
