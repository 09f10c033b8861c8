// Somebody looks through 200 pictures, 87 MB when all are drawn. In a control group of 64 MB a dictionary of pictures is
// killed, and so is an NSCache; a pool of chunks takes its share of what there is, and draws again what it had to let go of.
//
//   Viewer [chunks | dictionary | nscache] [SECONDS]       (scripts/cgroup-test runs them where memory is short)

import MemChunks

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

let words = CommandLine.arguments.dropFirst()
let length = words.compactMap { Int($0) }.first ?? 1
var store: any Store
switch words.first {
case "dictionary": store = DictionaryStore()
case "nscache": store = CacheStore()
default: store = ChunkStore()
}
var views = Views()
var count = 0

let clock = ContinuousClock()
let start = clock.now
while clock.now - start < .seconds(length) {
  try store.show(views.next())
  count += 1
  usleep(2_000)
}
print("\(count) views, hits \(100 * store.hits / count) %, \(store.account)")
