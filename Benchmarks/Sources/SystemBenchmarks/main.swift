// Whether the resident size follows the account: 20 000 products of 16 KB to 4 MB through 64 MB, three times. And what a
// storm of memory pressure costs.
//
//   swift run -c release --package-path Benchmarks SystemBenchmarks [buffers | mixed | malloc | storm]
//   LD_PRELOAD=libjemalloc.so.2 Benchmarks/.build/release/SystemBenchmarks malloc     # also libmimalloc.so.2
//
// Ends with 1 when chunks take more than they may: 66 MB over the start, 70 MB with every second one on the heap, and 2 MB
// when all are freed, or a storm a twentieth of a processor. In `mixed`, products above 64 KB are mapped by themselves, as the README advises: what glibc keeps on
// its heap between products that are still there, nobody can give back.

import CHeap
import Glibc

let budget = 64 << 20, products = 20_000

func residentBytes() -> Int {
  guard let file = fopen("/proc/self/statm", "re") else { return 0 }
  defer { fclose(file) }
  var text = [CChar](repeating: 0, count: 128)
  fgets(&text, 128, file)
  let fields = text.split(separator: CChar(UInt8(ascii: " ")))
  return (Int(String(decoding: fields[1].map { UInt8(bitPattern: $0) }, as: UTF8.self)) ?? 0) * 4_096
}

/// One round: seconds, the most over the start, and what is left when all is freed.
func round(_ churn: inout some Churn, _ start: Int) throws -> (seconds: Double, most: Int, left: Int) {
  var sizes = Sizes()
  var most = 0
  let clock = ContinuousClock()
  let begin = clock.now
  for number in 0..<products {
    try churn.make(sizes.next())
    if number % 50 == 0 { most = max(most, residentBytes() - start) }
  }
  let seconds = (clock.now - begin) / .seconds(1)
  churn.freeAll()
  // The heap is trimmed by a thread of the pool's.
  for _ in 0..<100 where residentBytes() - start > 2 << 20 { usleep(10_000) }
  return (seconds, most, residentBytes() - start)
}

func measure(_ name: String, _ churn: consuming some Churn, most limit: Int?) throws -> Bool {
  var isGood = true
  // The program's own pages are none of the products'.
  for _ in 0..<2 { try churn.make(16 << 10) }
  churn.freeAll()
  let start = residentBytes()
  for number in 1...3 {
    let (seconds, most, left) = try round(&churn, start)
    print(
      "\(name) \(number): \(Int(seconds * 1_000)) ms, at most +\(most >> 10) KB, after freeing all +\(left >> 10) KB")
    if let limit { isGood = isGood && most <= limit && left <= 2 << 20 }
  }
  return isGood
}

let word = CommandLine.arguments.dropFirst().first ?? "buffers"
let isGood: Bool
switch word {
case "buffers": isGood = try measure(word, ChunkChurn(budget: budget, isMixed: false), most: 66 << 20)
case "mixed":
  mallopt(M_MMAP_THRESHOLD, 64 << 10)
  isGood = try measure(word, ChunkChurn(budget: budget, isMixed: true), most: 70 << 20)
case "malloc": isGood = try measure(word, HeapChurn(budget: budget), most: nil)
case "storm": isGood = try measureStorm()
default:
  print("there is no \(word); there are: buffers, mixed, malloc, storm")
  exit(2)
}
exit(isGood ? 0 : 1)
