// Reads a JPEG file as a program does that shows it, and says what it took. Without Foundation, which alone would take
// more memory than is measured; `Benchmarks/JPEG/run` links the standard library statically for the same reason.
//
//   JPEGBenchmarks read FILE EIGHTHS        decodes all rows, and prints what it took
//   JPEGBenchmarks turn FILE EIGHTHS        gives it turned by a quarter, out of a chunk
//   JPEGBenchmarks picture WIDTH HEIGHT     writes a picture as PPM, for `cjpeg`
import Glibc
import MemChunks
import Pictures

/// A number that `/proc/self/status` has, in KB.
func status(_ name: String) -> Int {
  guard let file = fopen("/proc/self/status", "re") else { return 0 }
  defer { fclose(file) }
  var bytes = [UInt8](repeating: 0, count: 4_096)
  let count = fread(&bytes, 1, bytes.count, file)
  let line = String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n").first { $0.hasPrefix(name + ":") }
  return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
}

func seconds(_ clock: clockid_t) -> Double {
  var time = timespec()
  clock_gettime(clock, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

func read(_ path: String, eighths: Int) throws {
  let start = seconds(CLOCK_MONOTONIC)
  let source = try FileSource(BytePath(path))
  let header = try JPEGHeader(source)
  let scale = JPEGScale(eighths: eighths)
  let rows = try JPEGRows(source, header: header, scale: scale)
  var anonymous = 0
  var sum = 0
  while let row = try rows.nextRow() {
    sum &+= Int(row[0])
    // It is nearly constant; asking at every row would be half of the time.
    if rows.rowsRead % 100 == 1 { anonymous = max(anonymous, status("RssAnon")) }
  }
  anonymous = max(anonymous, status("RssAnon"))
  print(
    "\(rows.width) x \(rows.height)  wall \(seconds(CLOCK_MONOTONIC) - start) s  CPU \(seconds(CLOCK_PROCESS_CPUTIME_ID)) s"
      + "  anonymous \(anonymous) KB  resident \(status("VmHWM")) KB"
      + "  foretold \(JPEGRows.byteCount(for: header, scale: scale) >> 10) KB  sum \(sum)")
}

func turn(_ path: String, eighths: Int) throws {
  let stored = try StoredPicture.jpeg(BytePath(path), scale: JPEGScale(eighths: eighths))
  let picture = StoredPicture(
    .needsQuarterRight, width: stored.width, height: stored.height, decoderByteCount: stored.decoderByteCount,
    open: stored.open)
  let pool = ChunkPool(budget: .megabytes(512))
  let start = seconds(CLOCK_MONOTONIC)
  let rows = UprightRows(picture, in: pool, label: path)
  var sum = 0
  while let row = try rows.nextRow() { sum &+= Int(row[0]) }
  print(
    "\(rows.width) x \(rows.height)  wall \(seconds(CLOCK_MONOTONIC) - start) s"
      + "  CPU \(seconds(CLOCK_PROCESS_CPUTIME_ID)) s  peak of the pool \(pool.statistics.peak >> 10) KB  sum \(sum)")
}

/// Writes to the standard output; a pipe may take a part at a time.
func put(_ bytes: [UInt8]) {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = rest.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
    guard count > 0 else { exit(1) }
    rest = rest.dropFirst(count)
  }
}

/// A picture of slopes, edges and a little noise.
func writePicture(width: Int, height: Int) {
  put(Array("P6 \(width) \(height) 255\n".utf8))
  var row = [UInt8](repeating: 0, count: 3 * width)
  var random: UInt32 = 1
  for y in 0..<height {
    for x in 0..<width {
      random = random &* 1_664_525 &+ 1_013_904_223
      let base = ((x * 7 / width + y * 5 / height) * 31 + ((x / 37) ^ (y / 53)) % 3 * 20) & 127
      let noise = Int(random >> 28)
      row[3 * x] = UInt8(base + noise + x * 60 / width)
      row[3 * x + 1] = UInt8(base / 2 + noise + y * 100 / height)
      row[3 * x + 2] = UInt8(200 - base + noise)
    }
    put(row)
  }
}

let arguments = CommandLine.arguments
switch (arguments.dropFirst().first, arguments.count) {
case ("read", 4): try read(arguments[2], eighths: Int(arguments[3]) ?? 8)
case ("turn", 4): try turn(arguments[2], eighths: Int(arguments[3]) ?? 8)
case ("picture", 4): writePicture(width: Int(arguments[2]) ?? 1, height: Int(arguments[3]) ?? 1)
default: print("usage: JPEGBenchmarks read | turn FILE EIGHTHS; JPEGBenchmarks picture WIDTH HEIGHT")
}
