import CPNGRows
import Foundation

/// Milliseconds of processor time and of time that `body` takes.
func milliseconds(_ body: () throws -> Int) rethrows -> (cpu: Double, wall: Double) {
  let before = (clock_gettime_nsec(CLOCK_PROCESS_CPUTIME_ID), clock_gettime_nsec(CLOCK_MONOTONIC))
  let result = try body()
  let after = (clock_gettime_nsec(CLOCK_PROCESS_CPUTIME_ID), clock_gettime_nsec(CLOCK_MONOTONIC))
  // Keeps the work from being dropped as useless.
  if result == .min { print("") }
  return (Double(after.0 - before.0) / 1e6, Double(after.1 - before.1) / 1e6)
}

func clock_gettime_nsec(_ clock: clockid_t) -> Int {
  var time = timespec()
  clock_gettime(clock, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Runs all in turn, round after round, and prints medians; the last column is the ratio to the first.
func compare(_ title: String, _ measured: [(name: String, body: () throws -> Int)]) throws {
  let rounds = CommandLine.arguments.contains("--quick") ? 3 : 15
  var samples = measured.map { _ in [(cpu: Double, wall: Double)]() }
  for _ in 0..<rounds {
    for (index, one) in measured.enumerated() { samples[index].append(try milliseconds(one.body)) }
  }
  print("\n\(title); medians of \(rounds)")
  let medians = samples.map { sample in
    (cpu: sample.map(\.cpu).sorted()[rounds / 2], wall: sample.map(\.wall).sorted()[rounds / 2])
  }
  for (one, median) in zip(measured, medians) {
    let name = one.name.padding(toLength: 40, withPad: " ", startingAt: 0)
    print(
      name
        + String(
          format: "%7.1f ms  %7.1f CPU ms  %6.2f CPU us a row  %5.2f x", median.wall, median.cpu,
          1_000 * median.cpu / Double(Photo.side), median.cpu / medians[0].cpu))
  }
}

let photo = try Photo()
print("\(Photo.side) x \(Photo.side) RGBA, \(photo.file.count) bytes of PNG")
try compare(
  "All rows, as 8-bit RGBA",
  [
    ("libspng", { try readRowsWithLibspng(photo.file) }),
    ("row reader, fast (ISA-L where installed)", { try readRows(photo.file, .rgba8, .fast) }),
    ("the same, parked at every row", { try readRows(photo.file, .rgba8, .fast, isParked: true) }),
    ("row reader, small (zlib)", { try readRows(photo.file, .rgba8, .small) }),
    ("the same, parked at every row", { try readRows(photo.file, .rgba8, .small, isParked: true) }),
    ("row reader, fast, 16-bit RGBA", { try readRows(photo.file, .rgba16, .fast) }),
  ])
let steps = Steps(photo)
try compare(
  "Steps of the row reader",
  [
    ("inflate and Adler-32, fast", { steps.inflate(CPR_FAST) }),
    ("inflate and Adler-32, small", { steps.inflate(CPR_SMALL) }),
    ("CRC-32, fast", { steps.checksum(CPR_FAST) }),
    ("CRC-32, small", { steps.checksum(CPR_SMALL) }),
    ("unfilter", { steps.unfilter() }),
    ("expand to 16 bits", { steps.expand() }),
  ])
for alpha in Blending.Alpha.allCases {
  let blending = Blending(alpha)
  try compare(
    "Blending, a value at a time and with vectors; \(alpha) pixels",
    [
      ("8-bit RGBA over a plane", blending.scalar8), ("the same, vectors", blending.vectors8),
      ("16-bit RGBA over a plane", blending.scalar16), ("the same, vectors", blending.vectors16),
      ("a plane over a plane", blending.scalarPlane), ("the same, vectors", blending.vectorsPlane),
      ("a plane to 8-bit RGBA", blending.scalarResolve), ("the same, vectors", blending.vectorsResolve),
    ])
}
try Memory.print()
// PNG files that are named are encoded, or else the photo.
let files = CommandLine.arguments.dropFirst().filter { !$0.hasPrefix("--") }
for file in files { try Encoding(file, Array(Data(contentsOf: URL(fileURLWithPath: file)))).print() }
if files.isEmpty { try Encoding("the photo", photo.file).print() }
