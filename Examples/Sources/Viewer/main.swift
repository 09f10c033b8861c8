// Somebody looks through 200 pictures, 87 MB when all are drawn. In a control group of 64 MB a dictionary of pictures is
// killed; a pool of chunks takes its share of what there is, and draws again what it had to let go of.
//
//   Viewer [chunks | dictionary] [SECONDS]       (scripts/cgroup-test runs both where memory is short)

import MemChunks

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

let words = CommandLine.arguments.dropFirst()
let length = words.compactMap { Int($0) }.first ?? 1
var store: any Store = words.contains("dictionary") ? DictionaryStore() : ChunkStore()
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
