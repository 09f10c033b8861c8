// Whether the resident size follows the account: 20 000 products of 16 KB to 4 MB through 64 MB, three times. What a
// storm of memory pressure costs. And whether sources that are started and stopped 1 000 times leave anything behind.
//
//   swift run -c release --package-path Benchmarks SystemBenchmarks [NAME [USES]]      (names: see below)
//   Benchmarks/System/run                                      all of them, and malloc by jemalloc and mimalloc
//
// USES is how many products of the last 128, drawn at random, are used after each that is made, if they are there: with none
// the oldest goes, and what goes lies side by side; with some, what goes lies anywhere.
//
// Ends with 1 when chunks take more than they may: 66 MB over the start, 70 MB with every second one on the heap, and 2 MB
// when all are freed, or a storm a twentieth of a processor. In `mixed` and `mapped`, products above 64 KB are mapped by
// themselves, as the README advises: what glibc keeps on its heap between products that are still there, nobody can give
// back.

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

struct Round {
  var seconds = 0.0
  /// Of the processor, all threads together. It is what is compared: others may be at work beside.
  var processor = 0.0
  /// The most that was resident over the start.
  var most = 0
  /// Resident over the start and the live bytes, on average.
  var overhead = 0
  var live = 0
  /// Resident over the start when all is freed.
  var left = 0
}

func round(_ churn: inout some Churn, _ start: Int) throws -> Round {
  var sizes = Sizes(), draw = Sizes()
  var round = Round()
  let clock = ContinuousClock()
  let (begin, used) = (clock.now, processorSeconds())
  for number in 0..<products {
    try churn.make(sizes.next())
    for _ in 0..<uses { try churn.use(madeBefore: draw.random(below: 128)) }
    guard number % 50 == 49 else { continue }
    let resident = residentBytes() - start
    round.most = max(round.most, resident)
    round.live += churn.live
    round.overhead += resident - churn.live
  }
  round.seconds = (clock.now - begin) / .seconds(1)
  round.processor = processorSeconds() - used
  round.live /= products / 50
  round.overhead /= products / 50
  churn.freeAll()
  // The heap is trimmed by a thread of the pool's.
  for _ in 0..<100 where residentBytes() - start > 2 << 20 { usleep(10_000) }
  round.left = residentBytes() - start
  return round
}

func measure(_ name: String, _ churn: consuming some Churn, most limit: Int?) throws -> Bool {
  var isGood = true
  // The program's own pages are none of the products'.
  for _ in 0..<2 { try churn.make(16 << 10) }
  churn.freeAll()
  let start = residentBytes()
  for number in 1...3 {
    let round = try round(&churn, start)
    print(
      "\(name) \(number): \(Int(round.seconds * 1_000)) ms, \(Int(round.processor * 1_000)) ms of a processor, at most",
      "+\(round.most >> 10) KB, live \(round.live >> 10) KB, overhead \(round.overhead >> 10) KB,",
      "after freeing all +\(round.left >> 10) KB")
    if let limit { isGood = isGood && round.most <= limit && round.left <= 2 << 20 }
  }
  return isGood
}

let uses = CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 0
let word = CommandLine.arguments.dropFirst().first ?? "buffers"
let isGood: Bool
switch word {
case "buffers": isGood = try measure(word, ChunkChurn(budget: budget), most: 66 << 20)
case "exact": isGood = try measure(word, ChunkChurn(budget: budget, freesAhead: false), most: 66 << 20)
case "huge": isGood = try measure(word, ChunkChurn(budget: budget, usesHugePages: true), most: nil)
case "exact-huge":
  isGood = try measure(word, ChunkChurn(budget: budget, freesAhead: false, usesHugePages: true), most: nil)
case "mixed":
  mallopt(M_MMAP_THRESHOLD, 64 << 10)
  isGood = try measure(word, ChunkChurn(budget: budget, isMixed: true), most: 70 << 20)
case "malloc": isGood = try measure(word, HeapChurn(budget: budget), most: nil)
case "mapped":
  mallopt(M_MMAP_THRESHOLD, 64 << 10)
  isGood = try measure(word, HeapChurn(budget: budget), most: nil)
case "storm": isGood = try measureStorm()
case "cycles": isGood = countCycles()
default:
  print("there is no \(word); there are: buffers, exact, huge, exact-huge, mixed, malloc, mapped, storm, cycles")
  exit(2)
}
exit(isGood ? 0 : 1)
